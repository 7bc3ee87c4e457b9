"""The schemas that a table has had, and what its files call its columns of now (docs/decisions/0052)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from hoodie.schema.internal import Column, InternalSchema
from hoodie.schema.renaming import NO_RENAMING, Renaming, renaming


def schema_at(versions: Sequence[InternalSchema], time: str) -> InternalSchema | None:
    """The schema in which a commit of this time wrote its files; `versions` are in their order."""
    place = bisect_right([each.version for each in versions], int(time))
    return versions[place - 1] if place else None


@dataclass(frozen=True)
class StoredColumns:
    """The columns of a table as of one moment, and the schemas of its files. Picklable.

    Without a history columns are found by their names.
    """

    now: tuple[Column, ...] = ()
    versions: tuple[InternalSchema, ...] = ()

    @staticmethod
    def of(schema: pa.Schema, versions: tuple[InternalSchema, ...], as_of: str | None = None) -> StoredColumns:
        """Of a table with the data columns `schema` and this history, now or at the time `as_of`."""
        current = schema_at(versions, as_of) if as_of is not None else versions[-1] if versions else None
        if current is None:
            return NAMED_ALIKE
        return StoredColumns(current.with_columns(schema).columns, versions)

    def in_file(self, time: str) -> Renaming:
        """What the files and the log blocks of the commit of this time call the columns."""
        then = schema_at(self.versions, time) if self.now else None
        return _renaming(self.now, then.columns) if then is not None else NO_RENAMING


NAMED_ALIKE = StoredColumns()
"""For tables without a history."""


@lru_cache(maxsize=64)
def _renaming(now: tuple[Column, ...], then: tuple[Column, ...]) -> Renaming:
    return renaming(now, then)
