"""Record positions in the headers of log blocks: Roaring bitmaps as Hudi's."""

from __future__ import annotations

import base64

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError
from hoodie.formats.log import BlockType, Header, LogBlock, decode_positions, encode_positions, has_positions
from hoodie.model.internal_columns import POSITION


def table(positions):
    return pa.table({POSITION: pa.array(positions, pa.int64())})


def block(headers):
    return LogBlock("p/.f.log.1_0", 0, BlockType.PARQUET_DATA, headers, 0, 0)


@given(st.sets(st.integers(0, 1 << 34) | st.integers(0, 1 << 10), min_size=1))
def test_what_is_encoded_is_decoded(positions):
    ordered = sorted(positions)
    found = decode_positions(block(encode_positions(table(ordered), "1")))
    assert found.dtype == np.int64
    assert found.tolist() == ordered


@pytest.mark.format("6.1b")
def test_bytes_as_hudi_writes_them():
    headers = encode_positions(table([0]), "20261121013958535")
    assert headers[Header.RECORD_POSITIONS] == "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA"
    assert has_positions(block(headers), "20261121013958535")
    assert not has_positions(block(headers), "20261121013958536"), "another base file"
    assert not has_positions(block({}), "")


@pytest.mark.parametrize("positions", [[], [-1, 3], [3, 2], [2, 2], [-1]])
def test_no_headers_for_what_a_set_cannot_tell(positions):
    assert encode_positions(table(positions), "1") == {}
    assert encode_positions(pa.table({"id": ["a"]}), "1") == {}


@pytest.mark.parametrize("text", ["", "?", "AAA=", base64.b64encode(b"\xff" * 40).decode()])
def test_damage_is_told_with_a_way_out(text):
    with pytest.raises(CorruptFileError, match=r"p/\.f\.log\.1_0.*hoodie\.merge\.use\.record\.positions=false"):
        decode_positions(block({Header.RECORD_POSITIONS: text}))
