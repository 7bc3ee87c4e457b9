"""In which order a clustering puts rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config import clustering_keys as keys
from hoodie.config.key import Options
from hoodie.config.table import TableProperties
from hoodie.errors import ConfigError
from hoodie.schema import with_meta_columns


@dataclass(frozen=True)
class SortOrder:
    """Rows sorted by `columns`, each from its least value to its greatest, nulls first, as Spark sorts. Without columns there is
    none, and it is false."""

    columns: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns)

    @classmethod
    def of(cls, options: Options, schema: pa.Schema, properties: TableProperties) -> Self:
        """From checked options, for a table with these data columns. Raises ConfigError for a column that it has not, or whose
        values have no order."""
        return cls._checked(options.get(keys.SORT_COLUMNS) or (), schema, properties)

    @classmethod
    def planned(cls, params: Mapping[str, str], schema: pa.Schema, properties: TableProperties) -> Self:
        """What a plan says, whoever made it. Raises ConfigError, too."""
        return cls._checked(keys.SORT_COLUMNS.parse(params.get(keys.SORT_COLUMNS.name, "")), schema, properties)

    @classmethod
    def _checked(cls, columns: tuple[str, ...], schema: pa.Schema, properties: TableProperties) -> Self:
        known = schema if properties.virtual_keys else with_meta_columns(schema)
        for name in columns:
            if name not in known.names or pa.types.is_nested(known.field(name).type):
                has = "no such column" if name not in known.names else f"it is of type {known.field(name).type}"
                raise ConfigError(
                    f"Rows of table {properties.name!r} cannot be sorted by {name!r}",
                    found=has,
                    fix=f"name columns of plain values in {keys.SORT_COLUMNS.name}: {', '.join(schema.names)}",
                )
        return cls(columns)

    @property
    def params(self) -> Mapping[str, str]:
        """As a plan says it."""
        return {keys.SORT_COLUMNS.name: ",".join(self.columns)} if self.columns else {}

    def keys(self, rows: pa.Table) -> pa.Table:
        """The columns by which these rows are compared."""
        return rows.select(list(self.columns))

    @staticmethod
    def indices(keys: pa.Table) -> pa.Array:
        """The places of the least row, the next one …; equal rows keep their order."""
        return pc.sort_indices(keys, [(name, "ascending", "at_start") for name in keys.schema.names])

    def below(self, keys: pa.Table, bounds: pa.Table) -> pa.Array:
        """For each of the ordered `bounds` how many of the rows with these keys come before it."""
        if not bounds.num_rows:
            return pa.array([], pa.int64())
        order = self.indices(pa.concat_tables([bounds, keys]))  # of what is equal a bound comes first
        places = pc.indices_nonzero(pc.less(order, bounds.num_rows)).cast(pa.int64())
        return pc.subtract(places, pa.array(range(bounds.num_rows), pa.int64()))


UNSORTED = SortOrder()
"""Rows keep their order."""
