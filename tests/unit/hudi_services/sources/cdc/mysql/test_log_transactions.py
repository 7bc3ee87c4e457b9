"""Transactions that a log has before a place, from the events that were read."""

from __future__ import annotations

import struct
import uuid

import pytest

from hudi_services.sources.cdc.mysql import log_transactions
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.log_transactions import LogTransactions
from hudi_services.sources.cdc.mysql.position import LogPosition
from tests.unit.hudi_services.sources.cdc.mysql.test_gtid_set import tagged

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


def place(offset, file=1):
    return LogPosition(f"bin.{file:06}", offset)


def gtid(number):
    return Event(0, Kind.GTID, 0, b"\0" + uuid.UUID(A).bytes + struct.pack("<Q", number))


def previous(last):
    ranges = struct.pack("<QQQ", 1, 1, last + 1)
    return Event(0, Kind.PREVIOUS_GTIDS, 0, struct.pack("<Q", 1) + uuid.UUID(A).bytes + ranges)


ROTATE = Event(0, Kind.ROTATE, 0, b"")


def test_reading_from_a_stored_place_adds_what_follows():
    found = LogTransactions()
    found.know(place(400), f"{A}:1-9")
    found.restart()
    found.note(place(400), ROTATE)
    for number, offset in ((10, 450), (11, 550), (13, 650)):
        found.note(place(offset), gtid(number))
    assert found.before(place(400)) == f"{A}:1-9"
    assert found.before(place(500)) == f"{A}:1-10"
    assert found.before(place(700)) == f"{A}:1-11:13"
    assert found.before(place(399)) == ""


def test_a_place_that_was_unknown_is_known_once_its_log_is_read():
    found = LogTransactions()
    found.know(place(500), "")
    found.know(place(400), f"{A}:1-9")
    found.restart()
    found.note(place(400), ROTATE)
    found.note(place(450), gtid(10))
    assert found.before(place(500)) == f"{A}:1-10"


def test_a_place_inside_a_file_is_unknown_until_the_next_file():
    found = LogTransactions()
    found.note(place(400), ROTATE)
    found.note(place(450), gtid(10))
    assert found.before(place(500)) == ""
    found.note(place(4, file=2), ROTATE)
    found.note(place(150, file=2), previous(10))
    found.note(place(200, file=2), gtid(11))
    assert found.before(place(500)) == ""
    assert found.before(place(160, file=2)) == f"{A}:1-10"
    assert found.before(place(300, file=2)) == f"{A}:1-11"
    found.note(place(400, file=2), Event(0, Kind.GTID_TAGGED, 0, tagged(A, 7)))
    assert found.before(place(450, file=2)) == f"{A}:1-11:backup:7"


def test_many_transactions_keep_the_places_of_the_last_ones(monkeypatch):
    monkeypatch.setattr(log_transactions, "_LISTED", 5)
    found = LogTransactions()
    found.note(place(4), previous(1))
    for number in range(2, 40):
        found.note(place(number * 10), gtid(number))
    assert found.before(place(395)) == f"{A}:1-39"
    assert found.before(place(365)) == f"{A}:1-36"
    assert found.before(place(50)) == ""


def test_bytes_that_are_cut_off_are_named():
    found = LogTransactions()
    found.note(place(4), previous(1))
    with pytest.raises(ValueError, match="bytes at"):
        found.note(place(9), Event(0, Kind.GTID, 0, b"\0abc"))
