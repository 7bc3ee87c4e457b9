"""A key is once in the table: a row of another partition takes it there, or goes to where it is."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.index.global_locations import Across
from hoodie.model.internal_columns import DELETE, GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

PARTITIONS = ("p", "q")  # of the groups 0 and 1


def tagged(across, incoming, stored):
    """`incoming` of (key, partition, ts, deleted), `stored` of (key, group, place, ts)
    -> (row, group, place, whether the stored row leaves), rows that are new."""
    keys, partitions, times, deletes = zip(*incoming, strict=True)
    rows = pa.table({RECORD_KEY: keys, PARTITION_PATH: partitions, "ts": times, DELETE: deletes})
    keys, groups, places, times = zip(*stored, strict=True) if stored else ((),) * 4
    known = pa.table(
        {
            RECORD_KEY: pa.chunked_array([pa.array(keys, pa.string())]),
            GROUP: pa.array(groups, pa.int32()),
            POSITION: pa.array(places, pa.int64()),
            "ts": pa.array(times, pa.int64()),
            "part": pa.array([PARTITIONS[group] for group in groups], pa.string()),
        }
    )
    found = across.tag(rows, known, PARTITIONS)
    if found.leaves is None:
        assert len(found.rows) == 0
        return [], found.new.tolist()
    columns = (found.rows, found.groups, found.positions, found.leaves)
    return list(zip(*(column.tolist() for column in columns), strict=True)), found.new.tolist()


MOVES, STAYS = Across(True, ("ts",), ()), Across(False, ("ts",), ("part",))


@pytest.mark.parametrize(
    ("row", "leaves"),
    [
        (("a", "p", 9, False), False),
        (("a", "q", 9, False), True),
        (("a", "q", 5, False), True),
        (("a", "q", 4, False), False),
        (("a", "q", 9, True), False),
    ],
    ids=["its own partition", "newer", "as new", "older", "deletion"],
)
def test_a_row_takes_its_key_along_if_it_wins_and_is_no_deletion(row, leaves):
    assert tagged(MOVES, [row], [("a", 0, 7, 5)]) == ([(0, 0, 7, leaves)], [0] if leaves else [])


def test_without_moves_a_row_goes_to_its_key():
    assert tagged(STAYS, [("a", "q", 9, False), ("b", "q", 9, False)], [("a", 0, 7, 5)]) == ([(0, 0, 7, False)], [1])


def test_rows_whose_keys_are_nowhere_are_new():
    assert tagged(MOVES, [("a", "p", 1, False), ("b", "q", 1, False)], []) == ([], [0, 1])
    assert tagged(MOVES, [("a", "p", 1, False), ("b", "q", 1, False)], [("c", 0, 0, 1)]) == ([], [0, 1])


def test_a_key_that_is_there_twice_has_no_place():
    twice = [("a", 0, 7, 1), ("a", 0, 8, 9)]
    assert tagged(MOVES, [("a", "p", 5, False)], twice) == ([(0, 0, -1, False)], [])
    assert tagged(MOVES, [("a", "q", 5, False)], twice) == ([(0, 0, -1, False)], []), "it loses to one of both"
    apart = [("a", 0, 7, 1), ("a", 1, 8, 1)]
    assert tagged(MOVES, [("a", "q", 5, False)], apart) == ([(0, 0, 7, True), (0, 1, 8, False)], [])
