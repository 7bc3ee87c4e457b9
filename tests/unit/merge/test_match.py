"""A stored and an incoming row of one key meet: the greater ordering values win, a reset always, and the later of equals."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.merge.match import Incoming
from hoodie.model.internal_columns import DELETE, POSITION, RESET
from hoodie.model.meta_columns import RECORD_KEY


def incoming(entries, ordering=("ts",), key=RECORD_KEY):
    """Rows of (key, ts, deleted, reset)."""
    keys, times, deletes, resets = zip(*entries, strict=True)
    return Incoming(
        pa.table({key: keys, "ts": pa.array(times, pa.int64()), DELETE: deletes, RESET: resets}), ordering, key
    )


def stored(entries, key=RECORD_KEY):
    keys, times = zip(*entries, strict=True)
    return pa.table({key: keys, "ts": pa.array(times, pa.int64())})


def met(meeting):
    """(place of the stored row, place of the incoming one, whether it replaces the other, whether it removes it)"""
    columns = (meeting.stored, meeting.incoming, meeting.replaces, meeting.removes)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("entry", "replaces", "removes"),
    [
        (("b", 5, False, False), True, False),
        (("b", 4, False, False), False, False),
        (("b", 5, True, False), False, True),
        (("b", 4, True, False), False, False),
        (("b", 4, False, True), True, False),
        (("b", 4, True, True), False, True),
        (("b", None, False, False), False, False),
    ],
)
def test_who_wins(entry, replaces, removes):
    rows = incoming([("x", 9, False, False), entry])
    assert met(rows.meet(stored([("a", 5), ("b", 5)]))) == [(1, 1, replaces, removes)]
    assert rows.matched.tolist() == [False, True], "also a row that loses has met its key"


def test_without_ordering_the_incoming_row_wins():
    rows = incoming([("a", 1, False, False), ("b", 1, True, False)], ordering=())
    assert met(rows.meet(stored([("b", 5), ("a", 5)]))) == [(0, 1, False, True), (1, 0, True, False)]


def test_rows_meet_in_several_batches():
    rows = incoming([("a", 9, False, False), ("b", 9, False, False), ("c", 9, False, False)])
    assert rows.meet(stored([("x", 1)])) is None
    assert met(rows.meet(stored([("x", 1), ("c", 1)]))) == [(1, 2, True, False)]
    chunks = pa.concat_tables([stored([("b", 1)]), stored([("y", 1), ("x", 1)])])
    assert met(rows.meet(chunks)) == [(0, 1, True, False)]
    assert rows.matched.tolist() == [False, True, True]


def test_rows_meet_by_their_place_in_the_base_file():
    rows = incoming([(3, 9, False, False), (0, 9, True, False)], key=POSITION)
    assert met(rows.meet(stored([(0, 1), (1, 1), (2, 1)], POSITION))) == [(0, 1, False, True)]
    assert met(rows.meet(stored([(3, 1), (4, 1)], POSITION))) == [(0, 0, True, False)]
    assert rows.meet(stored([(5, 1)], POSITION)) is None
