"""Values of rows that their messages do not have: each is that of the row before, among the changes of a batch or in the table.

Pure but for the look at the table. PostgreSQL leaves unchanged long values out of its log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hoodie.merge.batch import key_numbers
from hoodie.model.internal_columns import DELETION

Stored = Callable[[pa.Table, Sequence[str]], pa.Table]
"""Gives the rows that the table has of some keys: `identity`, which the keys have, and these columns as far as it has them."""
_NONE = -1


@dataclass(frozen=True)
class Completed:
    """The rows that come last of their keys, with all values, and the reasons of rejected changes by their places."""

    kept: np.ndarray
    sources: Mapping[str, np.ndarray]
    stored: Mapping[str, pa.Array]
    rejected: Mapping[int, str]

    def filled(self, rows: pa.Table, numbers: np.ndarray) -> pa.Table:
        """Return the rows of these `numbers`, all of which are kept, with all values. `rows` are those that were completed."""
        result = rows.take(pa.array(numbers))
        for name, sources in self.sources.items():
            # Stored values come after the rows.
            values = pa.concat_arrays(
                [rows[name].combine_chunks(), self.stored[name].cast(rows.schema.field(name).type)]
            )
            position = result.schema.get_field_index(name)
            result = result.set_column(position, result.schema.field(position), values.take(pa.array(sources[numbers])))
        return result


@dataclass(frozen=True)
class History:
    """The changes of keys in order: numbers of rows, the places of their changes, and which are deletions.

    `origin` has for each row that of its key, or of the key that its change moves it from. `before` has the row before it, -1
    where the batch has none.
    """

    place: np.ndarray
    deletes: np.ndarray
    keys: np.ndarray
    origin: np.ndarray
    before: np.ndarray

    @staticmethod
    def of(rows: pa.Table, identity: Sequence[str], place: str) -> History:
        """Return the history of rows."""
        count = rows.num_rows
        numbers = key_numbers(rows, identity)
        keys = np.arange(count) if numbers is None else numbers
        places, deletes = rows[place].to_numpy(), rows[DELETION].to_numpy()
        order = np.lexsort((~deletes, places, keys))
        previous = np.full(count, _NONE)
        same = keys[order][1:] == keys[order][:-1]
        previous[order[1:][same]] = order[:-1][same]
        moved = np.full(int(places.max(initial=-1)) + 1, _NONE)  # by places: the row that the change deletes
        moved[places[deletes]] = np.flatnonzero(deletes)
        origin = np.where(deletes | (moved[places] == _NONE), np.arange(count), moved[places])
        return History(places, deletes, keys, origin, previous[origin])

    def last(self, kept: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows that come last of their keys among those that are kept."""
        rows = np.flatnonzero(kept)
        order = rows[np.lexsort((~self.deletes[rows], self.place[rows], self.keys[rows]))]
        ends = np.append(self.keys[order][1:] != self.keys[order][:-1], True)[: len(order)]
        last: np.ndarray = order[ends]
        return last

    def first_lacking(self, lacks: np.ndarray) -> np.ndarray:
        """Return for each row that lacks a value the first of the rows before it that all lack it, for others itself."""
        before = self.before
        earlier = np.where(lacks & (before != _NONE), before, np.arange(len(lacks)))
        result: np.ndarray = np.where(lacks & lacks[earlier], earlier, np.arange(len(lacks)))
        while True:  # each round doubles the steps
            further = result[result]
            if np.array_equal(further, result):
                return result
            result = further


def completed(
    rows: pa.Table, lacking: Mapping[str, np.ndarray], identity: Sequence[str], place: str, stored: Stored
) -> Completed:
    """Find the values that rows lack: by columns, the places of their changes.

    A change is rejected if it decides about its key, and there is no row before it that has the value.
    """
    history = History.of(rows, identity, place)
    lacks = {name: np.isin(history.place, places) & ~history.deletes for name, places in lacking.items()}
    first = {name: history.first_lacking(flags) for name, flags in lacks.items()}
    unknown = [first[name][flags & (history.before[first[name]] == _NONE)] for name, flags in lacks.items()]
    roots = np.unique(history.origin[np.concatenate(unknown)])
    table = stored(rows.take(pa.array(roots)), list(lacking)) if len(roots) else rows.select(identity).slice(0, 0)
    at = _places(rows, roots, table, identity)
    values, sources, lost = {}, {}, {}
    for name, flags in lacks.items():
        is_stored = name in table.schema.names
        values[name] = (
            table[name].combine_chunks() if is_stored else pa.nulls(table.num_rows, rows.schema.field(name).type)
        )
        sources[name], lost[name] = _sources(history, flags, first[name], at, values[name])
    kept, rejected = _without_lost(history, lost)
    return Completed(kept, sources, values, rejected)


def _sources(
    history: History, lacks: np.ndarray, first: np.ndarray, at: np.ndarray, values: pa.Array
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have the values of a column, those of the table after those of the batch, and which rows have none."""
    count = len(lacks)
    before, stored = history.before[first], at[history.origin[first]]
    sources = np.where(lacks & (before != _NONE), before, np.arange(count))
    has_value = np.append(
        values.is_valid().to_numpy(zero_copy_only=False), False
    )  # the last for rows that are not there
    in_table = lacks & (before == _NONE) & has_value[stored]
    sources[in_table] = count + stored[in_table]
    return sources, lacks & np.where(before == _NONE, ~in_table, history.deletes[before])


def _places(rows: pa.Table, roots: np.ndarray, stored: pa.Table, identity: Sequence[str]) -> np.ndarray:
    """The rows that were found of the roots' keys, -1 for none."""
    result = np.full(rows.num_rows, _NONE)
    if stored.num_rows:
        keys = rows.select(identity).take(pa.array(roots)).append_column("root", pa.array(roots))
        numbered = stored.select(identity).append_column("row", pa.array(np.arange(stored.num_rows)))
        joined = keys.join(numbered, list(identity), join_type="inner")
        result[joined["root"].to_numpy()] = joined["row"].to_numpy()
    return result


def _without_lost(history: History, lost: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[int, str]]:
    """The rows that are kept, and why other changes are rejected. A change that is rejected leaves its old key as it is, too."""
    kept = np.ones(len(history.place), bool)
    any_lost = np.logical_or.reduce([*lost.values()])
    rejected: dict[int, str] = {}
    while True:
        last = history.last(kept)
        keys = np.unique(history.keys[last[any_lost[last]]])
        bad = any_lost & kept & np.isin(history.keys, keys)
        if not bad.any():
            return kept, rejected
        for name, flags in lost.items():
            rejected |= dict.fromkeys(history.place[bad & flags].tolist(), _lost(name))
        kept &= ~np.isin(history.place, history.place[bad])


def _lost(name: str) -> str:
    return (
        f"the connector did not send {name!r}, and no row before has it: ALTER TABLE ... REPLICA IDENTITY FULL at the source, "
        "then a snapshot"
    )
