"""Headers of events, and bodies that were changed on the way."""

from __future__ import annotations

import struct
import zlib

import pytest

from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind, Query, decompressed, event, query, rows_header


def packet(kind: int, body: bytes, size: int | None = None) -> bytes:
    plain = struct.pack("<IBIIIH", 1_700_000_000, kind, 1, size or 19 + len(body) + 4, 500, 0) + body
    return plain + zlib.crc32(plain).to_bytes(4, "little")


def test_a_header_and_a_body_with_its_checksum():
    assert event(packet(16, b"12345678"), checksum=True) == Event(1_700_000_000, Kind.XID, 500, b"12345678")


def test_what_was_changed_on_the_way_is_refused():
    right = packet(16, b"12345678")
    for place in range(19, len(right)):
        wrong = right[:place] + bytes([right[place] ^ 1]) + right[place + 1 :]
        with pytest.raises(ValueError, match="whose checksum is wrong"):
            event(wrong, checksum=True)
    with pytest.raises(ValueError, match="whose header says 99"):
        event(packet(16, b"12345678", 99), checksum=True)


def test_an_unknown_event_is_never_passed_over():
    for kind in (43, 99, 250):
        with pytest.raises(ValueError, match=f"the kind {kind}, which is unknown here and may carry rows"):
            event(packet(kind, b""), checksum=True)


def test_rows_of_the_second_version_have_more_in_their_head():
    body = b"\x09\0\0\0\0\0" + b"\1\0" + b"\x05\0abc" + b"\2" + b"\3" + b"\1" + b"images"
    header = rows_header(Event(0, Kind.UPDATE_ROWS, 0, body))
    assert (header.table, header.before, header.after, header.images) == (9, (0, 1), (0,), b"images")
    with pytest.raises(ValueError, match="bytes at"):
        rows_header(Event(0, Kind.UPDATE_ROWS, 0, body[:11]))


def test_what_cannot_be_decompressed_is_refused():
    data = zlib.compress(b"x" * 100)
    assert decompressed(b"\x81\x64" + data) == b"x" * 100
    for wrong, words in (
        (b"\x91\x64" + data, "unknown algorithm"),
        (b"\x81\x63" + data, "header says 99"),
        (b"", "unknown algorithm"),
    ):
        with pytest.raises(ValueError, match=words):
            decompressed(wrong)


def test_a_statement_has_its_database_and_the_mode_and_character_set_of_its_client():
    status = (
        b"\0abcd"
        + b"\1"
        + struct.pack("<Q", 1 << 20)
        + b"\x06\3std"
        + b"\3abcd"
        + b"\4"
        + struct.pack("<HHH", 8, 1, 2)
        + b"\5\1x"
    )
    for variables, mode, collation in ((status, 1 << 20, 8), (b"\x80abc", 0, 0), (b"", 0, 0)):
        body = struct.pack("<IIBHH", 1, 2, 4, 0, len(variables)) + variables + b"shop\0" + b"DROP TABLE \xfc"
        assert query(Event(0, Kind.QUERY, 0, body)) == Query("shop", b"DROP TABLE \xfc", mode, collation)
