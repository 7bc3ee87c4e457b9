"""Columns whose names have another meaning than for the earlier reads of a follower: names that are used again, renamed and
dropped columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hoodie.changes.range import completed_after, with_archived
from hoodie.errors import ChangeRangeError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.model.time import Time
from hoodie.read.incremental import time_in_range
from hoodie.schema.internal import Column, InternalSchema, walked
from hoodie.view import TableState
from hoodie.view.restore import as_restored


def check_column_names(state: TableState, after: Time, until: Time | None = None, *, renamed: bool) -> None:
    """Raises ChangeRangeError where changes after a position would go into other columns of a copy than the rows before it.

    A name that another column has had before is always such a case: nothing in the changes shows it. With `renamed` a column that
    has a new name, or is gone, is one, too: a copy that finds columns by their names would keep the old values under the old name
    in rows that do not change. `until` is the time whose columns the changes have; None: now.
    """
    if not state.schemas:
        return
    state = with_archived(as_restored(state), after)
    later = completed_after(state, after)
    unseen = {int(commit.time) for commit in later}
    taken_in = {int(commit.time) for commit in later if until is None or time_in_range(state, commit) <= until}
    known = [schema for schema in state.schemas if schema.version not in unseen]
    new = [schema for schema in state.schemas if schema.version in taken_in]
    if not known or not new:
        return
    conflict = next(_conflicts(known, new, renamed=renamed), None)
    if conflict is not None:
        raise ChangeRangeError(
            f"The changes of table {state.storage.base_path} after {after} do not fit what was read before",
            found=f"{conflict}, by an ALTER TABLE since then",
            fix="read a snapshot into an empty copy, and go on from its last commit",
        )


def _conflicts(known: Sequence[InternalSchema], new: Sequence[InternalSchema], *, renamed: bool) -> Iterator[str]:
    then, now = dict(_data(known[-1])), dict(_data(new[-1]))
    used = {(path, column.id) for schema in (*known, *new) for path, column in _data(schema)}
    names = {column.id: path for path, column in then.items()}
    for path, column in now.items():
        is_new = path not in then or then[path].id != column.id
        if is_new and any(other == path and number != column.id for other, number in used):
            yield f"{path!r} is the name of another column"
        if renamed and names.get(column.id, path) != path:
            yield f"column {names[column.id]!r} is now {path!r}"
    kept = {column.id for column in now.values()}
    if renamed:
        yield from (f"column {path!r} was dropped" for path, column in then.items() if column.id not in kept)


def _data(schema: InternalSchema) -> Iterator[tuple[str, Column]]:
    return walked([column for column in schema.columns if column.name not in META_COLUMNS])
