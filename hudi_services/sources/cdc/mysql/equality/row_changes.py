"""Rows of a Hudi table that other loads changed after a comparison had read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.changes import ChangeQuery, open_changes
from hoodie.changes.range import by_completion
from hoodie.engine import Engine
from hoodie.errors import PendingInstantError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.read.incremental import time_in_range
from hoodie.schema import conform
from hoodie.view import TableState


def later_rows(then: TableState, now: TableState, engine: Engine, columns: pa.Schema) -> tuple[pa.Table, pa.Table]:
    """Return rows that differ between two states of a table: those of `then`, and those of `now`, each with these columns.

    Raises PendingInstantError where the timeline does not say what changed, and ChangeRangeError where files of it are gone.
    """
    order = by_completion(then)
    start = str(time_in_range(then, order[-1])) if order else None
    stream = open_changes(now, ChangeQuery(start, net=True), engine)
    ranged = {commit.time for commit in stream.plan.range.commits}
    seen = {commit.time for commit in then.timeline.commits}
    unseen = [
        commit
        for commit in now.timeline.commits
        if commit.time not in seen | ranged and not now.commit_metadata(commit).moves_rows
    ]
    if unseen or seen - {commit.time for commit in now.timeline.commits}:
        raise PendingInstantError(
            f"Others changed {now.storage.base_path} in a way that its timeline does not order",
            fix="pause other loads and services of the table, then run again",
        )
    changes = list(stream.tables())
    return _rows(changes, BEFORE, columns), _rows(changes, AFTER, columns)


def _rows(changes: Sequence[pa.Table], image: str, columns: pa.Schema) -> pa.Table:
    return pa.concat_tables([columns.empty_table(), *_images(changes, image, columns)])


def _images(changes: Sequence[pa.Table], image: str, columns: pa.Schema) -> Iterator[pa.Table]:
    for table in changes:
        rows = table[image].filter(pc.is_valid(table[image]))
        for chunk in rows.chunks:
            yield conform(pa.table(dict(zip(chunk.type.names, chunk.flatten(), strict=True))), columns)
