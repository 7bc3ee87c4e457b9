"""Keys of the rows of a query: the record key and partition path under which the table stores each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config import CREATE_KEYS
from hoodie.config.key import resolve
from hoodie.config.keygen_checks import with_keygen_options
from hoodie.config.keys.index import GLOBAL_TYPES, INDEX_TYPE
from hoodie.config.properties.table import TableProperties
from hoodie.config.service_options import select_keys
from hoodie.keygen import key_generator
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import find_field, top_level, values_of

AMBIGUOUS = "__hoodie_ambiguous"
"""The column of keyed rows that says whether another value of a key column could make the same key."""
_MANY_VALUES = r"^$|^__(null|empty|HIVE_DEFAULT_PARTITION)__$|[,:/]"
"""Texts that keys and paths of other values may hold: `''` and null share a folder, commas and slashes join values."""


@dataclass(frozen=True)
class RowKeys:
    """How a write with these options names the rows of a table. With an `is_global` index the partition is not a part of it."""

    properties: TableProperties
    is_global: bool

    @classmethod
    def of(cls, properties: TableProperties, options: dict[str, str]) -> RowKeys:
        """Raises ConfigError for options that contradict the table."""
        index = resolve(select_keys(options, [INDEX_TYPE]), [INDEX_TYPE])[INDEX_TYPE]
        resolved = resolve(select_keys(options, CREATE_KEYS), CREATE_KEYS)
        return cls(with_keygen_options(properties, resolved), index in GLOBAL_TYPES)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of keyed rows whose values are equal for one row of the table."""
        return (RECORD_KEY,) if self.is_global else (RECORD_KEY, PARTITION_PATH)

    @property
    def columns(self) -> list[str]:
        """The columns of the table that keys and paths are made of."""
        return top_level(self._fields)

    def keyed(self, rows: pa.Table, also: Sequence[str] = ()) -> pa.Table:
        """The columns of keys, those that `also` names, the record key, the partition path, and `AMBIGUOUS`.

        Raises RecordKeyError for rows that have no key.
        """
        keys, paths = key_generator(self.properties)
        named = rows.select([*self.columns, *also])
        named = named.append_column(RECORD_KEY, keys.of(rows)).append_column(PARTITION_PATH, paths.of(rows))
        fields = [field for field in self._fields if find_field(rows.schema, field) is not None]
        unsure = reduce(pc.or_, [_is_ambiguous(values_of(rows, field)) for field in fields])
        return named.append_column(AMBIGUOUS, unsure)

    @property
    def _fields(self) -> tuple[str, ...]:
        return (*self.properties.record_key_fields, *self.properties.partition_fields)


def _is_ambiguous(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(values.type):
        return pc.is_null(values)
    return pc.fill_null(pc.match_substring_regex(values, _MANY_VALUES), True)
