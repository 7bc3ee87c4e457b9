"""Log files: blocks of rows and deletes that a merge-on-read table keeps beside its base files."""

from hoodie.formats.log.blocks import BlockType, Header, LogBlock, encode_block, read_content, scan_blocks
from hoodie.formats.log.data_writer import DataBlocks, data_block_type
from hoodie.formats.log.delete_writer import encode_deletes
from hoodie.formats.log.deletes import read_deletes
from hoodie.formats.log.positions import decode_positions, encode_positions, has_positions, wrong_positions
from hoodie.formats.log.rows import columns_of, corrupt_block, read_rows

__all__ = [
    "BlockType",
    "DataBlocks",
    "Header",
    "LogBlock",
    "columns_of",
    "corrupt_block",
    "data_block_type",
    "decode_positions",
    "encode_block",
    "encode_deletes",
    "encode_positions",
    "has_positions",
    "read_content",
    "read_deletes",
    "read_rows",
    "scan_blocks",
    "wrong_positions",
]
