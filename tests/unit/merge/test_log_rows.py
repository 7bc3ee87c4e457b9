"""Merging what logs hold gives what applying their rows one by one would."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie.merge import BaseMerger, Overlay, newest_per_key
from hoodie.model.internal_columns import DELETE, RESET, SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY


@dataclass(frozen=True)
class Entry:
    """A row of a log: key, ordering value, and whether it deletes with that value (True) or without one (None)."""

    key: str
    ordering: int | None
    delete: bool | None


KEYS = st.sampled_from("abc")
ENTRIES = st.lists(
    st.one_of(
        st.builds(Entry, KEYS, st.integers(1, 4), st.booleans()),
        st.builds(Entry, KEYS, st.none(), st.none()),
    ),
    max_size=12,
)
ORDERINGS = st.integers(1, 4)
STORED = st.dictionaries(KEYS, ORDERINGS)


def applied(stored: dict[str, int], entries: list[Entry], event_time: bool) -> dict[str, tuple[int, int]]:
    """Key -> (ordering value, number of the row that wins; -1: the stored one), one entry after the other.

    Deletions with an ordering value are remembered: a late row does not bring the key back. The sum of the logs is then
    compared with the stored row.
    """
    logs: dict[str, tuple[int | None, int, bool]] = {}
    for number, entry in enumerate(entries):
        known = logs.get(entry.key)
        reset = entry.delete is None or known is None or known[0] is None
        if reset or not event_time or entry.ordering >= known[0]:
            logs[entry.key] = (entry.ordering, number, entry.delete is not False)
    state = {key: (value, -1) for key, value in stored.items()}
    for key, (value, number, deleted) in logs.items():
        if value is not None and event_time and key in state and value < state[key][0]:
            continue
        state.pop(key, None)
        if not deleted:
            state[key] = (value, number)
    return state


def log_table(entries: list[Entry]) -> pa.Table:
    schema = pa.schema(
        [
            (RECORD_KEY, pa.string()),
            (PARTITION_PATH, pa.string()),
            ("ts", pa.int64()),
            ("number", pa.int64()),
            (SEQUENCE, pa.int64()),
            (RESET, pa.bool_()),
            (DELETE, pa.bool_()),
        ]
    )
    rows = [
        {
            RECORD_KEY: entry.key,
            PARTITION_PATH: "p",
            "ts": entry.ordering,
            "number": number,
            SEQUENCE: number,
            RESET: entry.delete is None,
            DELETE: entry.delete is not False,
        }
        for number, entry in enumerate(entries)
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def base_table(stored: dict[str, int] | list[tuple[str, int]]) -> pa.Table:
    pairs = list(stored.items()) if isinstance(stored, dict) else stored
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    return pa.table(
        {
            RECORD_KEY: pa.array(keys, pa.string()),
            PARTITION_PATH: pa.array(["p"] * len(keys), pa.string()),
            "ts": pa.array(values, pa.int64()),
            "number": pa.array([-1] * len(keys), pa.int64()),
        }
    )


@pytest.mark.format("7.3a", "7.3b")
@pytest.mark.parametrize("event_time", [True, False])
@settings(deadline=None)
@given(stored=STORED, entries=ENTRIES)
def test_as_one_by_one(event_time: bool, stored: dict[str, int], entries: list[Entry]) -> None:
    ordering = ("ts",) if event_time else ()
    merger = BaseMerger(newest_per_key(log_table(entries), ordering), base_table(stored).schema.names, ordering)
    rows = pa.concat_tables([merger.merge(base_table(stored)).rows, merger.inserts()]).to_pylist()
    found = {row[RECORD_KEY]: (row["ts"], row["number"]) for row in rows}
    assert len(found) == len(rows)
    assert found == applied(stored, entries, event_time)


@pytest.mark.parametrize("event_time", [True, False])
@settings(deadline=None)
@given(stored=st.lists(st.tuples(KEYS, ORDERINGS), max_size=8), entries=ENTRIES)
def test_an_overlay_has_the_same_rows(event_time: bool, stored: list[tuple[str, int]], entries: list[Entry]) -> None:
    """Also where the base file has a key several times, as inserts that combine nothing leave it."""
    ordering = ("ts",) if event_time else ()
    logs, batches = newest_per_key(log_table(entries), ordering), [base_table(stored[:4]), base_table(stored[4:])]
    merger, overlay = BaseMerger(logs, batches[0].schema.names, ordering), Overlay(logs, ordering)
    merged = pa.concat_tables([*(merger.merge(rows).rows for rows in batches), merger.inserts()])
    laid = [*(overlay.uncovered(rows) for rows in batches), overlay.winning_rows().select(merged.schema.names)]
    order = [(name, "ascending") for name in (RECORD_KEY, "ts", "number")]
    assert pa.concat_tables(laid).sort_by(order).equals(merged.sort_by(order))
