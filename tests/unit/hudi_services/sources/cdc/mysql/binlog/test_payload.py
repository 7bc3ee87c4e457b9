"""Transactions that MySQL compressed. No MySQL server runs here: one was recorded by others, the rest is wrapped here."""

from __future__ import annotations

import base64
import struct
import tracemalloc

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind, rows_header
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets, events
from hudi_services.sources.cdc.mysql.binlog.payload import payload_events
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, table_map
from hudi_services.sources.cdc.mysql.binlog.transactions import transactions
from tests.support.binlog import SERVER_ID, connect, log_end, logged, rows_of
from tests.support.mariadb import only_mariadb

RECORDED = base64.b64decode(
    "AgEAAwP8wAMBA/zDAQAotS/9AFi8DQCm3mE5YGeUDiABIAiCIHgSZwiCji2s8fe+REqK2FJEkhANhhojYhR7EAf79kWAJWtb1jL2jPqxMwtd8k"
    "kKVwBRAFEA/6E/y7JM4YzI8ai6GiTJ5PMsQsQ4BP1xhsYjkAgSKRzb1qCthLe1VOPQKT7xqLoGSJLJR8GDA6byZ5FDAZ798UeDgliU8P+YB0/o"
    "Br7wxzWPqoshSSafnLxgfZnYIFwHbzO5btuT1CEqxZ1Jz+NFELkx7ldJbN3TyhLXKTfqqSW1UR11lkPgtxBbzh0ep/DhAH4HBIgtJ7eCyS3Xah"
    "SpyX0xyJ14wQsEjDlkuVeT3Szebr7g3D7J0k025SiR2cNJVt5NEPW6Gm6yXatEfEuxwk265W6aaKnD5MWkEHGpfnCTHqqbEzHqqdQTyY0pRLyY"
    "2nUi0lFiRYXr//+/4QQeVReDJJl8usGJEgVg+zpwahIJudOWPpV4pDnXlmzO7SWbGzfFI22aOq7h20o29ZTfVmJDXotHyW5PL7FB5b7EA8s9tf"
    "c6IrtxEgAJhUA1eUsVvAcht+KBmQkRQs9UQQIrEIMAKzdybQTOwMLAYwAcoDWg8wC8AQAA"
)
"""An UPDATE of MySQL 8.0, from TransactionPayloadEventDataDeserializerTest.java of osheroff/mysql-binlog-connector-java (Apache
License 2.0)."""


def wrapped(plain, compression=0, **changed):
    """The body of an event with these bytes as its payload."""
    payload = pa.Codec("zstd").compress(plain, asbytes=True) if compression == 0 else plain
    fields = {1: len(payload), 2: compression, 3: len(plain)} | {
        int(name[1:]): value for name, value in changed.items()
    }
    head = b"".join(bytes([kind, 9, 0xFE]) + value.to_bytes(8, "little") for kind, value in fields.items())
    return Event(0, Kind.TRANSACTION_PAYLOAD, 700, head + b"\0" + payload)


def plain(found):
    return struct.pack("<IBIIIH", found.seconds, found.kind, 1, 19 + len(found.body), 0, 0) + found.body


def test_a_recorded_transaction_has_its_events():
    found = list(payload_events(Event(0, Kind.TRANSACTION_PAYLOAD, 0, RECORDED)))
    assert [event.kind for event in found] == [Kind.QUERY, Kind.TABLE_MAP, Kind.UPDATE_ROWS, Kind.XID]
    assert {event.seconds for event in found} == {1_646_406_641}
    assert [len(event.body) for event in found] == [57, 63, 756, 8]
    table = table_map(found[1].body, mariadb=False)
    assert (table.database, table.table, len(table.columns)) == ("demo", "movies", 11)
    assert {column.code for column in table.columns} == {Code.LONG, Code.VARCHAR}
    assert b"Western|Action" in rows_header(found[2]).images


def test_payloads_that_are_cut_off_or_of_unknown_forms_are_refused():
    inner = plain(Event(7, Kind.XID, 0, b"12345678"))
    for compression in (0, 255):
        assert list(payload_events(wrapped(inner, compression))) == [Event(7, Kind.XID, 0, b"12345678")]
    assert [event.kind for event in payload_events(wrapped(inner, f9=5))] == [Kind.XID], (
        "fields of later releases are skipped"
    )
    cut = wrapped(inner)
    nested = plain(Event(0, Kind.TRANSACTION_PAYLOAD, 0, b""))
    for wrong, words in (
        (Event(0, Kind.TRANSACTION_PAYLOAD, 0, cut.body[:-3]), "bytes whose event says"),
        (wrapped(inner, 3), "the algorithm 3"),
        (wrapped(inner[:-2], 255, f3=27), "cut off"),
        (wrapped(inner[:10], 255, f3=27), "cut off"),
        (wrapped(inner, f3=20), "an event XID of 27 bytes"),
        (wrapped(inner, f3=99), "of 27 bytes whose event says 99"),
        (wrapped(inner[:9] + b"\3\0\0\0" + inner[13:]), "of 3 bytes"),
        (wrapped(nested), "inside another"),
        (wrapped(inner[:4] + b"\x99" + inner[5:]), "the kind 153"),
        (Event(0, Kind.TRANSACTION_PAYLOAD, 0, b"\2\1\0\0not zstd"), "cannot be decompressed"),
    ):
        with pytest.raises(ValueError, match=words):
            list(payload_events(wrong))


def test_a_payload_is_decompressed_event_by_event():
    size, count = 1 << 20, 60
    outer = wrapped(plain(Event(0, Kind.ROWS_QUERY, 0, bytes(size))) * count)
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    seen = 0
    for found in payload_events(outer):
        seen += len(found.body)
        assert pa.total_allocated_bytes() - before < 16 << 20
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (seen, peak < 8 * size) == (size * count, True)


@only_mariadb
@pytest.mark.process
def test_rows_of_a_compressed_transaction_are_those_of_the_plain_one(server):
    server.run(
        "CREATE DATABASE payload",
        "CREATE TABLE payload.t (id INT PRIMARY KEY, v TEXT)",
        "CREATE TABLE payload.u (id INT)",
    )
    start = log_end(server)
    server.run(
        "USE payload",
        "BEGIN",
        "INSERT INTO t SELECT seq, REPEAT('é', seq) FROM seq_1_to_2000",
        "INSERT INTO u VALUES (1)",
        "UPDATE t SET v = NULL WHERE id % 3 = 0",
        "COMMIT",
        "INSERT INTO t VALUES (0, 'last')",
    )
    expected = logged(server, start)
    with connect(server) as connection:
        charsets = collation_charsets(connection)
        every = list(events(connection, SERVER_ID, start, wait=False))
    ends = [number for number, (_, found) in enumerate(every) if found.kind is Kind.XID]
    first = max(number for number in range(ends[0]) if every[number][1].kind is Kind.MARIADB_GTID) + 1
    body = b"".join(plain(found) for _, found in every[first : ends[0] + 1])
    position = every[ends[0]][0]
    packed = [*every[:first], (position, wrapped(body)), *every[ends[0] + 1 :]]
    found = list(transactions(packed, charsets, lambda database, table: table == "t", mariadb=True))
    assert [part.position for part in found] == [part.position for part in expected if part.shape.table == "t"]
    assert rows_of(found) == rows_of([part for part in expected if part.shape.table == "t"])
    assert len(rows_of(found)) == 2667
