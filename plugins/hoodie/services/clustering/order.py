"""In which order a clustering puts rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.key import ConfigKey, Options
from hoodie.config.keys import clustering as keys
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError
from hoodie.schema import with_meta_columns
from hoodie.services.clustering.curves import hilbert, ordered_bits, ranks, z_order

_CHUNK_ROWS = 1 << 16  # rows whose places on a curve are made at once: each bit of a value takes a byte then
_DIRECT_BITS, _SAMPLE_BITS = 64, 16
_PLAN_KEYS: tuple[ConfigKey[str], ...] = (keys.LAYOUT, keys.CURVE_METHOD)


@dataclass(frozen=True)
class SortOrder:
    """Rows in order of `columns`. Without columns there is none, and it is false.

    LINEAR: by the first column, then the next one; from the least value to the greatest, nulls first, as Spark sorts. Other
    layouts: by position on a space-filling curve through all columns (`layout`), made of the values' own bits (`method` DIRECT),
    or of their ranks among sampled values (SAMPLE), which fits columns of different ranges, and texts that begin alike.
    """

    columns: tuple[str, ...] = ()
    layout: str = keys.LINEAR
    method: str = keys.DIRECT
    bounds: tuple[pa.Array, ...] = ()  # SAMPLE: of each column values in order

    def __bool__(self) -> bool:
        return bool(self.columns)

    @classmethod
    def of(cls, options: Options, schema: pa.Schema, properties: TableProperties) -> Self:
        """From checked options, for a table with these data columns. Raises ConfigError for a column that it has not, or whose
        values have no order, and for a curve without columns."""
        columns, layout = options.get(keys.SORT_COLUMNS) or (), options[keys.LAYOUT]
        if not columns and layout != keys.LINEAR:
            raise ConfigError(
                f"{keys.LAYOUT.name}={layout.lower()} has no effect without {keys.SORT_COLUMNS.name}",
                fix=f"name the columns by which queries filter in {keys.SORT_COLUMNS.name}",
            )
        return cls(columns, layout, options[keys.CURVE_METHOD])._checked(schema, properties)

    @classmethod
    def planned(
        cls, params: Mapping[str, str], options: Options, schema: pa.Schema, properties: TableProperties
    ) -> Self:
        """The order that a plan of any writer states; `options` give what Hudi's plans leave to their execution. Raises
        ConfigError, too."""
        layout, method = (key.parse(params[key.name]) if key.name in params else options[key] for key in _PLAN_KEYS)
        columns = keys.SORT_COLUMNS.parse(params.get(keys.SORT_COLUMNS.name, ""))
        return cls(columns, layout, method)._checked(schema, properties)

    def _checked(self, schema: pa.Schema, properties: TableProperties) -> Self:
        columns = schema if properties.virtual_keys else with_meta_columns(schema)
        for name in self.columns:
            if name not in columns.names or pa.types.is_nested(columns.field(name).type):
                has = "no such column" if name not in columns.names else f"it is of type {columns.field(name).type}"
                raise ConfigError(
                    f"Rows of table {properties.name!r} cannot be sorted by {name!r}",
                    found=has,
                    fix=f"name columns of plain values in {keys.SORT_COLUMNS.name}: {', '.join(schema.names)}",
                )
        return self

    @property
    def params(self) -> Mapping[str, str]:
        """As a plan says it."""
        if not self:
            return {}
        params = {keys.SORT_COLUMNS.name: ",".join(self.columns), keys.LAYOUT.name: self.layout.lower()}
        return params if self.layout == keys.LINEAR else {**params, keys.CURVE_METHOD.name: self.method.lower()}

    @property
    def wants_sample(self) -> bool:
        """Return whether the order needs a sample of the values before it can compare rows."""
        return bool(self) and self.layout != keys.LINEAR and self.method == keys.SAMPLE

    def sampled(self, rows: pa.Table) -> Self:
        """The order by ranks among these values; without any, by the bits of values."""
        if not rows.num_rows:
            return replace(self, method=keys.DIRECT)
        return replace(self, bounds=tuple(_quantiles(rows[name]) for name in self.columns))

    def keys(self, rows: pa.Table) -> pa.Table:
        """The columns by which these rows are compared."""
        if self.layout == keys.LINEAR:
            return rows.select(list(self.columns))
        starts = range(0, max(1, rows.num_rows), _CHUNK_ROWS)
        places = np.concatenate([self._places(rows.slice(start, _CHUNK_ROWS)) for start in starts])
        return pa.table({str(word): places[:, word] for word in range(places.shape[1])})

    def _places(self, rows: pa.Table) -> np.ndarray:
        if self.method == keys.SAMPLE:
            numbers = [ranks(rows[name], bounds) for name, bounds in zip(self.columns, self.bounds, strict=True)]
        else:
            numbers = [ordered_bits(rows[name]) for name in self.columns]
        curve = z_order if self.layout == keys.Z_ORDER else hilbert
        return curve(np.stack(numbers, axis=1), _SAMPLE_BITS if self.method == keys.SAMPLE else _DIRECT_BITS)

    @staticmethod
    def indices(keys: pa.Table) -> pa.Array:
        """The places of the least row, the next one …; equal rows keep their order."""
        return pc.sort_indices(keys, [(name, "ascending", "at_start") for name in keys.schema.names])

    def below(self, keys: pa.Table, bounds: pa.Table) -> pa.Array:
        """For each of the ordered `bounds` how many of the rows with these keys come before it."""
        if not bounds.num_rows:
            return pa.array([], pa.int64())
        order = self.indices(pa.concat_tables([bounds, keys]))  # a bound comes before keys that are equal to it
        places = pc.indices_nonzero(pc.less(order, bounds.num_rows)).cast(pa.int64())
        return pc.subtract(places, pa.array(range(bounds.num_rows), pa.int64()))


UNSORTED = SortOrder()
"""Rows keep their order."""


def _quantiles(values: pa.ChunkedArray) -> pa.Array:
    """Distinct values in order, chosen at even distances if there are more of them than ranks."""
    distinct = pc.unique(values).drop_null()
    ordered = distinct.take(pc.sort_indices(distinct))
    step = -(-len(ordered) // ((1 << _SAMPLE_BITS) - 1)) or 1
    return ordered.take(pa.array(np.arange(0, len(ordered), step)))
