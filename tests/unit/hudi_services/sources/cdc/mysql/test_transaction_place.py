"""The place after transactions of another MySQL server, in the files of this one."""

from __future__ import annotations

import struct
import uuid
from contextlib import nullcontext

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql import transaction_place
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.transaction_place import executed_transactions, place_after
from tests.unit.hudi_services.sources.cdc.mysql.test_gtid_set import tagged

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
SERVER = uuid.UUID(A).bytes


def previous(last):
    ranges = struct.pack("<QQQ", 1, 1, last + 1) if last else struct.pack("<Q", 0)
    return Event(0, Kind.PREVIOUS_GTIDS, 150, struct.pack("<Q", 1) + SERVER + ranges)


def transaction(number, begin):
    """The GTID of a transaction and its end, each with the place after it."""
    return [
        (begin + 50, Event(0, Kind.GTID, begin + 50, b"\0" + SERVER + struct.pack("<Q", number))),
        (begin + 100, Event(0, Kind.XID, begin + 100, b"")),
    ]


FILES = {
    "bin.000001": [(150, previous(0)), *transaction(1, 150), *transaction(2, 250)],
    "bin.000002": [(150, previous(2)), *transaction(4, 150), *transaction(3, 250), *transaction(5, 350)],
}


@pytest.fixture
def answers(monkeypatch):
    found = {"SELECT GTID_SUBSET": ((1, 1),), "SHOW BINARY LOGS": tuple((name, 450) for name in FILES)}

    def events(connection, server_id, start, *, wait):
        for name in sorted(FILES):
            if name >= start.file:
                yield from ((LogPosition(name, offset), event) for offset, event in FILES[name])

    monkeypatch.setattr(
        transaction_place,
        "rows_of",
        lambda _, text, values=(): next(found[key] for key in found if text.startswith(key)),
    )
    monkeypatch.setattr(transaction_place, "events", events)
    return found


def place(text):
    found = place_after(None, lambda: nullcontext(None), 1, text)
    return found.file, found.offset


def test_the_first_transaction_that_was_not_read_begins_there(answers):
    assert place(f"{A}:1") == ("bin.000001", 250)
    assert place(f"{A}:1-2") == ("bin.000002", 4)
    assert place(f"{A}:1-3") == ("bin.000002", 4)  # 3 comes once more, after 4
    assert place(f"{A}:1-2:4") == ("bin.000002", 250)
    assert place(f"{A}:1-5") == ("bin.000002", 450)


def test_a_transaction_with_a_tag_that_was_not_read_begins_there(answers, monkeypatch):
    with_tag = [(200, Event(0, Kind.GTID_TAGGED, 200, tagged(A, 1))), (250, Event(0, Kind.XID, 250, b""))]
    monkeypatch.setitem(FILES, "bin.000002", [(150, previous(2)), *with_tag, *transaction(3, 250)])
    assert place(f"{A}:1-2") == ("bin.000002", 4)
    assert place(f"{A}:1-2:backup:1") == ("bin.000002", 250)
    assert place(f"{A}:1-3:backup:1") == ("bin.000002", 350)


def test_servers_without_the_transactions_are_refused(answers):
    for answer in ((0, 1), (1, 0)):
        answers["SELECT GTID_SUBSET"] = (answer,)
        with pytest.raises(SourceError, match="does not have the transactions"):
            place(f"{A}:1-5")
    answers["SELECT GTID_SUBSET"] = ((1, 1),)
    answers["SHOW BINARY LOGS"] = (("bin.000002", 450),)
    with pytest.raises(SourceError, match="begins with transactions that were read"):
        place(f"{A}:1")


def test_transactions_are_known_at_a_quiet_end_of_the_log(monkeypatch):
    ends = [LogPosition("bin.000001", 500)]
    monkeypatch.setattr(transaction_place, "rows_of", lambda *_: ((f"{A}:1-9,\n{A[:-1]}3:1",),))
    monkeypatch.setattr(transaction_place, "end_of_log", lambda _: ends.pop(0) if len(ends) > 1 else ends[0])
    for committing, known in (({f"{A}:9"}, ""), (None, ""), (set(), f"{A}:1-9,{A[:-1]}3:1")):
        monkeypatch.setattr(transaction_place, "committing", lambda _, answer=committing: answer)
        assert executed_transactions(None, LogPosition("bin.000001", 500)) == known
    assert executed_transactions(None, LogPosition("bin.000001", 400)) == ""
    ends[:] = [LogPosition("bin.000001", 500), LogPosition("bin.000001", 600)]
    assert executed_transactions(None, LogPosition("bin.000001", 500)) == ""
