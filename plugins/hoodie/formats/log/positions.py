"""Positions of the rows of a log block in their base file, from the block's header (format notes, section 6.1b)."""

from __future__ import annotations

import base64
from array import array

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyroaring import BitMap64

from hoodie.errors import CorruptFileError
from hoodie.formats.log.blocks import Header, LogBlock
from hoodie.model.internal_columns import POSITION


def encode_positions(rows: pa.Table, base_instant: str) -> dict[Header, str]:
    """The headers of a block of `rows`, none unless `@position` rises from row to row: a set is all that they can hold.

    `base_instant` is the instant of the base file of the rows.
    """
    if POSITION not in rows.schema.names or not rows.num_rows:
        return {}
    positions = rows[POSITION].to_numpy()
    if positions[0] < 0 or not (np.diff(positions) > 0).all():
        return {}
    bitmap = BitMap64(array("Q", positions.astype(np.uint64).tobytes()))
    return {
        Header.RECORD_POSITIONS: base64.b64encode(bitmap.serialize()).decode(),
        Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: base_instant,
    }


def has_positions(block: LogBlock, base_instant: str) -> bool:
    """Return whether the block has positions in the base file of that instant, and not in another one."""
    instant = block.headers.get(Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)
    return instant == base_instant and bool(block.headers.get(Header.RECORD_POSITIONS))


def decode_positions(block: LogBlock) -> npt.NDArray[np.int64]:
    """Positions of the rows of the block, in their order. Raises CorruptFileError."""
    try:
        content = base64.b64decode(block.headers[Header.RECORD_POSITIONS], validate=True)
        positions = BitMap64.deserialize(content).to_array()
    except (ValueError, IndexError) as error:
        raise wrong_positions(block, f"they cannot be decoded: {error}") from error
    return np.frombuffer(positions, dtype=np.uint64).astype(np.int64)


def wrong_positions(block: LogBlock, detail: str) -> CorruptFileError:
    """The error for positions that do not fit the block or the base file."""
    return CorruptFileError(
        f"The record positions of the {block.kind.name} block at byte {block.offset} of log file {block.path} are damaged",
        found=detail,
        fix="read with hoodie.merge.use.record.positions=false, which uses keys; compactions do so always",
    )
