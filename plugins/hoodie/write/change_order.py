"""The last one of several changes of a key. Pure Arrow in, Arrow out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import DataError
from hoodie.merge.batch import key_numbers
from hoodie.merge.equality import same_rows
from hoodie.merge.ordering import comparable, incoming_wins
from hoodie.model.internal_columns import DELETION
from hoodie.model.meta_columns import META_COLUMNS, RECORD_KEY
from hoodie.schema import top_level

_Ranks = list[npt.NDArray[np.int64]]


def last_changes(
    rows: pa.Table, identity: Sequence[str], order: Sequence[str], ordering: Sequence[str], *, deletes_first: bool
) -> pa.Table:
    """Return the rows that come last by the columns `order` among those that share their `identity`.

    With `deletes_first` a delete precedes an upsert with the same place in the order. `ordering` are the fields by which the
    table decides between a stored row and a new one.

    Raises DataError if the order does not decide: null values, or equal ones in two changes that do not leave the same row.
    Raises it too if a row follows its deletion with a lower ordering value: the table would keep the stored row.
    """
    keys = key_numbers(rows, identity)
    if keys is None:
        return rows
    several = np.bincount(keys)[keys] > 1
    places = np.flatnonzero(several)
    duplicates, keys = rows.take(pa.array(places)), keys[places]
    deletes = duplicates[DELETION].to_numpy()
    ranks = _ranks(duplicates, order)
    if deletes_first:
        ranks.append((~deletes).astype(np.int64))
    # Upserts come after deletes with the same place: a tie whose last row is a delete has only deletes.
    sorted_ = np.lexsort((~deletes, *reversed(ranks), keys))
    sorted_keys = keys[sorted_]
    last = np.append(sorted_keys[1:] != sorted_keys[:-1], True)
    _check_ties(duplicates, sorted_, last, [rank[sorted_] for rank in ranks])
    winner = np.empty(int(keys.max()) + 1, dtype=np.int64)
    winner[sorted_keys[last]] = sorted_[last]
    _check_returns(duplicates, deletes, winner[keys], ordering)
    keep = ~several
    keep[places[sorted_[last]]] = True
    return rows.filter(pa.array(keep))


def _ranks(rows: pa.Table, order: Sequence[str]) -> _Ranks:
    ranks = []
    for name in order:
        column = rows[name]
        if column.null_count:
            raise _undecided(rows, int(np.flatnonzero(column.is_null().to_numpy())[0]), "a null value of its order")
        values = comparable(column.combine_chunks())
        ranks.append(pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64))
    return ranks


def _check_ties(rows: pa.Table, sorted_: npt.NDArray[np.int64], last: npt.NDArray[np.bool_], ranks: _Ranks) -> None:
    """Raise DataError if two changes of a key are the last ones, and what they leave differs."""
    begins = np.append(True, last[:-1])
    tied = ~begins
    for rank in ranks:
        tied[1:] &= rank[1:] == rank[:-1]
    group = np.cumsum(~tied)
    of_last = np.repeat(group[last], np.diff(np.append(np.flatnonzero(begins), len(last))))
    later = np.flatnonzero(tied & (group == of_last))
    if not len(later):
        return
    names = [name for name in rows.schema.names if not name.startswith("@") and name not in META_COLUMNS]
    later_rows, earlier_rows = (rows.take(pa.array(sorted_[at])) for at in (later, later - 1))
    both = later_rows[DELETION].to_numpy() & earlier_rows[DELETION].to_numpy()
    same = later_rows[DELETION].to_numpy() == earlier_rows[DELETION].to_numpy()
    same &= same_rows(later_rows.select(names), earlier_rows.select(names))
    bad = np.flatnonzero(~(both | same))
    if len(bad):
        raise _undecided(later_rows, int(bad[0]), "several changes with the same place in the order")


def _check_returns(
    rows: pa.Table, deletes: npt.NDArray[np.bool_], winner: npt.NDArray[np.int64], ordering: Sequence[str]
) -> None:
    """Raise DataError for a row that returns after its deletion with a lower ordering value than it had."""
    back = np.flatnonzero(deletes & ~deletes[winner])
    if not ordering or not len(back):
        return
    fields = top_level(ordering)
    new, old = (rows.select(fields).take(pa.array(at)) for at in (winner[back], back))
    lower = np.flatnonzero(~incoming_wins(new, old, ordering).to_numpy())
    if len(lower):
        key = rows[RECORD_KEY][int(back[lower[0]])].as_py()
        raise DataError(
            f"Key {key!r:.200} is deleted, and returns with a lower value of {', '.join(ordering)} in one batch",
            found=f"{len(lower)} such rows; the table keeps the row with the greater value",
            fix="use a table with hoodie.record.merge.mode=COMMIT_TIME_ORDERING, or smaller batches",
        )


def _undecided(rows: pa.Table, place: int, detail: str) -> DataError:
    return DataError(
        "It is not known which change of a key is the last one",
        found=f"{detail}: key {rows[RECORD_KEY][place].as_py()!r:.200}",
        fix="name columns that give the changes of a key an order (order_columns)",
    )
