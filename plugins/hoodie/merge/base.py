"""Merging incoming rows into the rows of a base file, batch by batch. Pure Arrow in, Arrow out.

A base file of any size is streamed: memory holds one batch of it and the incoming rows of its file group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hoodie.formats.dictionary_columns import coded, coded_columns
from hoodie.merge.match import Incoming
from hoodie.merge.partial import PartialUpdate, replaced
from hoodie.model.internal_columns import LACKS
from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME

Places = npt.NDArray[np.int64]


def _no_places() -> Places:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """Result of one batch: the rows to write, and how many were updated, deleted and added."""

    rows: pa.Table
    updated: int
    deleted: int
    added: int = 0
    changed: Places = field(default_factory=_no_places, compare=False)
    """Places in the batch, ascending, of the rows that incoming ones replaced or filled."""
    removed: Places = field(default_factory=_no_places, compare=False)
    """Places in the batch, ascending, of the rows that are gone."""

    @property
    def changed_rows(self) -> Places:
        """Places of the changed rows in `rows`."""
        return self.changed - np.searchsorted(self.removed, self.changed)


class BaseAddition:
    """Adds rows to those of one base file, without a look at the keys of both; the same methods as `BaseMerger`."""

    def __init__(self, incoming: pa.Table) -> None:
        self._incoming = incoming

    def merge(self, batch: pa.Table) -> MergedBatch:
        """The rows of `batch`."""
        return MergedBatch(batch, 0, 0)

    def inserts(self) -> pa.Table:
        """The rows that were added."""
        return self._incoming


class BaseMerger:
    """Applies incoming rows (at most one a key) to the batches of one base file, then returns those that are left to insert."""

    def __init__(
        self,
        incoming: pa.Table,
        columns: Sequence[str],
        ordering: Sequence[str],
        partial: PartialUpdate | None = None,
        *,
        stamps_filled: bool = False,
    ) -> None:
        """`incoming` has `columns` and `@delete`; with only deletes, the record key is enough of `columns`. Rows from logs also
        have `@reset`: such a row wins with any ordering values. If blocks lack columns, there is `@lacks.` for each.

        `ordering` is empty when the incoming row always wins (COMMIT_TIME_ORDERING, delete by key). With `partial` the winning
        row is filled from the other; `stamps_filled` gives a stored row that a late one fills the late one's commit time and
        sequence number, as a write does: it was changed by that write.
        """
        self._incoming = incoming.combine_chunks()
        self._lacks = [name for name in incoming.schema.names if name.startswith(LACKS)]
        # Deletions have nulls in columns that the table requires: only the rows that replace others must have values.
        present = self._incoming.select([*(name for name in columns if name in incoming.schema.names), *self._lacks])
        self._rows = _in_schema(present, pa.schema([field.with_nullable(True) for field in present.schema]))
        self._keys = Incoming(self._incoming, ordering)
        self._partial = partial
        self._stamps_filled = stamps_filled

    def merge(self, batch: pa.Table) -> MergedBatch:
        """The rows of `batch` (columns as `columns`, in its order) after the incoming ones; updated rows keep their place."""
        meeting = self._keys.meet(batch)
        if meeting is None:
            return MergedBatch(batch, 0, 0)
        places, replaces, removes = meeting.stored, meeting.replaces, meeting.removes
        deletes = self._keys.deletes[meeting.incoming]
        late = ~(replaces | deletes) if self._partial is not None else np.zeros_like(replaces)
        updated, deleted = int(replaces.sum()), int(removes.sum())
        if not updated and not deleted and not late.any():
            return MergedBatch(batch, 0, 0)
        # One `take` from the old rows followed by the incoming ones makes the batch: half the time of replacing by column.
        order = np.arange(batch.num_rows, dtype=np.int64)
        incoming = batch.num_rows + meeting.incoming
        order[places[replaces]] = incoming[replaces]
        changed, removed = places[replaces | late], places[removes]
        row_numbers = np.delete(order, removed)
        if not updated and not late.any():
            return MergedBatch(batch.take(pa.array(row_numbers)), 0, deleted, removed=removed)
        stored = batch
        for name in self._lacks:
            stored = stored.append_column(name, pa.repeat(False, batch.num_rows))
        both = pa.concat_tables(self._alike(stored)).unify_dictionaries()
        rows = both.take(pa.array(row_numbers))
        if self._partial is not None:
            other = order.copy()
            other[places[replaces]] = places[replaces]
            other[places[late]] = incoming[late]
            other = np.delete(other, places[removes])
            rows, filled = self._partial.filled(rows, both, row_numbers, other)
            filled &= np.isin(row_numbers, places[late])
            updated += int(filled.sum())
            if self._stamps_filled and filled.any():
                rows = replaced(rows, both, (COMMIT_TIME, COMMIT_SEQNO), np.where(filled, other, row_numbers))
        rows = rows.drop_columns(self._lacks).cast(batch.schema)
        return MergedBatch(rows, updated, deleted, changed=changed, removed=removed)

    def _alike(self, stored: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The stored and the incoming rows in one schema: what is stored as dictionaries comes in as such, too."""
        names = coded_columns(stored.schema)
        if names != coded_columns(self._rows.schema):
            self._rows = _in_schema(self._rows, coded(self._rows.schema, names))
        return stored.cast(self._rows.schema), self._rows

    def inserts(self) -> pa.Table:
        """The incoming rows that met no stored row and are not deletes, with `columns`; call it after the last batch."""
        return self._rows.drop_columns(self._lacks).filter(pa.array(~self._keys.matched & ~self._keys.deletes))


def _in_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """`rows` with these types. Columns that have theirs are left alone: Arrow checks what it casts, and structs of deletions have
    nulls in fields that the table requires."""
    columns = zip(rows.columns, schema, strict=True)
    return pa.table([c if c.type == field.type else c.cast(field.type) for c, field in columns], schema=schema)
