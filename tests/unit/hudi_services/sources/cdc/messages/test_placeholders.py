"""Markers that connectors write in columns of each type, for values that they did not get."""

from __future__ import annotations

import base64
import struct

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.placeholders import MARKER, Marker

_BYTES = MARKER.encode()
_CODES = [*_BYTES]
_FAR_POINT = bytes(4) + struct.pack("<BIdd", 1, 1, -99999999, -99999999)
_FAR_GEOMETRY = struct.pack("<I", 4326) + bytes.fromhex("0101000020E6100000000000FC83D797C1000000FC83D797C1")


@pytest.mark.parametrize(
    ("kind", "marked", "other"),
    [
        (
            pa.string(),
            [MARKER, base64.b64encode(_BYTES).decode(), _BYTES.hex(), f'{{"{MARKER}":"{MARKER}"}}'],
            f"{MARKER} ",
        ),
        (pa.binary(), [_BYTES, _FAR_POINT, _FAR_GEOMETRY], b"x"),
        (pa.list_(pa.string()), [[MARKER], ["76bf4e8c-5b8a-36f4-a4d5-f4c5e4f7fc46"]], [MARKER, MARKER]),
        (pa.list_(pa.binary()), [[_BYTES]], [b"x"]),
        (pa.list_(pa.int32()), [_CODES], [*_CODES[:-1], 0]),
        (pa.list_(pa.int64()), [_CODES], [None, *_CODES[1:]]),
        (pa.map_(pa.string(), pa.string()), [[(MARKER, MARKER)]], [("a", MARKER)]),
    ],
    ids=str,
)
def test_the_marker_of_each_type(kind, marked, other):
    if kind == pa.list_(pa.string()):
        marked[1] = [Marker().uuid]
    values = pa.array([other, None, *marked, other], kind)
    expected = [False, False, *[True] * len(marked), False]
    assert Marker().marks(values).tolist() == expected
    assert Marker().marks(values.slice(1)).tolist() == expected[1:]
    assert Marker().marks(pa.array([other, None], kind)) is None


def test_other_types_have_no_marker():
    for kind in (pa.int64(), pa.list_(pa.float64()), pa.struct([("a", pa.string())])):
        assert Marker().marks(pa.nulls(2, kind)) is None
    assert Marker().marks(pa.array([], pa.string())) is None


def test_the_uuid_is_that_of_java():
    assert Marker("hello").uuid == "5d41402a-bc4b-3a76-b971-9d911017c592"  # UUID.nameUUIDFromBytes


def test_a_marker_of_bytes():
    marker = Marker("hex:00ff")
    assert marker.marks(pa.array([b"\0\xff", b"\0"])).tolist() == [True, False]
    assert marker.marks(pa.array([[0, -1], [0, 255]], pa.list_(pa.int32()))).tolist() == [True, False]
    assert marker.marks(pa.array(["AP8=", "hex:00ff"])).tolist() == [True, False]
    for wrong in ("hex:", "hex:0", "hex:zz", ""):
        with pytest.raises(ConfigError, match="unavailable"):
            Marker(wrong)
