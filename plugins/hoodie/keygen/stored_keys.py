"""The record keys of stored rows: in their meta column or, with virtual keys, made of key columns (format notes, section 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.properties.table import TableProperties
from hoodie.keygen.generator import record_keys
from hoodie.keygen.record_key import RecordKeys
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.schema import conform, top_level


@dataclass(frozen=True)
class StoredKeys:
    """How the record key of a stored row is known. Picklable.

    Without `made_of` it is the value of `_hoodie_record_key`. In a table with virtual keys (`hoodie.populate.meta.fields=false`)
    only files from before they were switched on have that value: keys are made of the key columns, `columns` of the table.
    """

    made_of: RecordKeys | None
    columns: pa.Schema

    @property
    def virtual(self) -> bool:
        return self.made_of is not None

    def rows(self, names: Sequence[str], read: Callable[[list[str]], Iterable[pa.Table]]) -> Iterator[pa.Table]:
        """The rows that `read` returns for the columns `names`, with the record key if it is named.

        `read` gets the names of the columns to read from a file; of those that the file has not the rows have none either.
        """
        if self.made_of is None or RECORD_KEY not in names:
            yield from read(list(names))
            return
        others = [name for name in names if name != RECORD_KEY]
        for rows in read(list(dict.fromkeys([*others, *self.columns.names]))):
            keys = self.made_of.of(conform(rows.select(self._present(rows)), self.columns))
            present = [name for name in others if name in rows.schema.names]
            yield rows.select(present).append_column(RECORD_KEY, keys)

    def _present(self, rows: pa.Table) -> list[str]:
        return [name for name in self.columns.names if name in rows.schema.names]


def stored_keys(properties: TableProperties, schema: pa.Schema | None) -> StoredKeys:
    """Those of a table with the data columns `schema` (None: it has no rows yet)."""
    if not properties.virtual_keys:
        return StoredKeys(None, pa.schema([]))
    keys = record_keys(properties)
    columns = schema if schema is not None else pa.schema([])
    return StoredKeys(
        keys, pa.schema([columns.field(name) for name in top_level(keys.fields) if name in columns.names])
    )
