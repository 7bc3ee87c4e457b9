"""Rows of a query in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.sql.assignment import stored
from hoodie.sql.engine import Doubled
from hoodie.sql.row_keys import RowKeys
from hoodie.sql.update_rows import Changes, changed
from hoodie.table import HoodieTable
from hoodie.write.execute import WriteResult

_NUMBER = "__hoodie_number"


@dataclass(frozen=True)
class ArrowRows:
    """See `hoodie.sql.engine.Rows`."""

    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    def fetched(self) -> pa.Table:
        return self.table

    def selected(self, names: Sequence[str]) -> ArrowRows:
        return ArrowRows(self.table.select(names))

    def stored(self, schema: pa.Schema, names: Sequence[str]) -> ArrowRows:
        return ArrowRows(stored(self.table, schema, names))

    def changed(self, changes: Changes) -> ArrowRows:
        return ArrowRows(changed(self.table, changes))

    def keyed(self, keys: RowKeys, also: Sequence[str] = ()) -> ArrowRows:
        return ArrowRows(keys.keyed(self.table, also))

    def marked(self, name: str) -> ArrowRows:
        return ArrowRows(self.table.filter(self.table[name]))

    @contextmanager
    def persisted(self) -> Iterator[ArrowRows]:
        yield self

    def is_empty(self) -> bool:
        return not self.table.num_rows

    def doubled(self, names: Sequence[str]) -> Doubled | None:
        numbered = self.table.select(names).append_column(_NUMBER, pa.array(np.arange(self.table.num_rows)))
        counted = numbered.group_by(names).aggregate([([], "count_all"), (_NUMBER, "min")])
        doubled = counted.filter(pc.greater(counted["count_all"], 1))
        if not doubled.num_rows:
            return None
        return Doubled(doubled.num_rows, self.table.slice(doubled[f"{_NUMBER}_min"][0].as_py(), 1).to_pylist()[0])

    def write(self, table: HoodieTable, operation: str, options: dict[str, str], **how: Any) -> WriteResult:
        return table.write(self.table, operation, options, **how)
