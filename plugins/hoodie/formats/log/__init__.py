"""Log files: blocks of rows and deletes that a merge-on-read table keeps beside its base files."""

from hoodie.formats.log.blocks import BlockType, Header, LogBlock, encode_block, read_content, scan_blocks
from hoodie.formats.log.delete_writer import encode_deletes
from hoodie.formats.log.deletes import RESET, read_deletes
from hoodie.formats.log.rows import columns_of, read_rows

__all__ = [
    "RESET",
    "BlockType",
    "Header",
    "LogBlock",
    "columns_of",
    "encode_block",
    "encode_deletes",
    "read_content",
    "read_deletes",
    "read_rows",
    "scan_blocks",
]
