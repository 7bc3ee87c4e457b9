"""HFiles: sorted keys and values with an index of their blocks (format notes, section 9)."""

from hoodie.formats.hfile.blocks import Codec
from hoodie.formats.hfile.entries import ENTRIES
from hoodie.formats.hfile.reader import HFileReader, open_hfile
from hoodie.formats.hfile.records import decode_records
from hoodie.formats.hfile.writer import HFileWriter

__all__ = ["ENTRIES", "Codec", "HFileReader", "HFileWriter", "decode_records", "open_hfile"]
