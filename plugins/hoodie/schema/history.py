"""The schemas that a table has had, and what its files call its columns of now (decision 52)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa

from hoodie.schema.column_mapping import NO_RENAMING, Renaming, renaming
from hoodie.schema.internal import Column, InternalSchema
from hoodie.schema.timestamp_units import millis_columns


def schema_at(versions: Sequence[InternalSchema], time: str) -> InternalSchema | None:
    """The schema in which a commit of this time wrote its files; `versions` are in their order."""
    place = bisect_right([version.version for version in versions], int(time))
    return versions[place - 1] if place else None


@dataclass(frozen=True)
class StoredColumns:
    """The columns of a table as of one moment, and the schemas of its files. Picklable.

    Without a history columns are found by their names.
    """

    now: tuple[Column, ...] = ()
    versions: tuple[InternalSchema, ...] = ()
    millis: pa.Schema | None = None  # see `millis_columns`

    @staticmethod
    def of(schema: pa.Schema, versions: tuple[InternalSchema, ...], as_of: str | None = None) -> StoredColumns:
        """The stored columns of a table with the data columns `schema` and this history, now or at the time `as_of`."""
        current = schema_at(versions, as_of) if as_of is not None else versions[-1] if versions else None
        millis = millis_columns(schema)
        if current is None:
            return StoredColumns(millis=millis)
        return StoredColumns(current.with_columns(schema).columns, versions, millis)

    def in_file(self, time: str) -> Renaming:
        """Names and types of the columns in the base files of the commit of this time."""
        then = schema_at(self.versions, time) if self.now else None
        named = _renaming(self.now, then.columns) if then is not None else NO_RENAMING
        return named if self.millis is None else replace(named, millis=self.millis)

    def in_block(self, time: str) -> Renaming:
        """The same of the log blocks of that commit."""
        mapping = self.in_file(time)
        return mapping if mapping.millis is None else replace(mapping, local_millis=True)


NAMED_ALIKE = StoredColumns()
"""For tables without a history."""


@lru_cache(maxsize=64)
def _renaming(now: tuple[Column, ...], then: tuple[Column, ...]) -> Renaming:
    return renaming(now, then)
