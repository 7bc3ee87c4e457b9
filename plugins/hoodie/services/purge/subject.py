"""The rows that a purge erases: a condition, the keys of its rows, and texts by which files are searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from hoodie.cache import cached_property
from hoodie.errors import UnsupportedTableError
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.read.filters.text import parse_condition, parse_filter
from hoodie.view import TableState
from hoodie.view.table_schema import table_schema

PARTITION, KEY = "partition", "key"
KEYS = pa.schema([(PARTITION, pa.string()), (KEY, pa.string())])
_SHORTEST = 4  # characters: a shorter text is in many files by chance
_MOST = 200  # texts that the bytes of each file are searched for


@dataclass(frozen=True)
class Subject:
    """The rows where a condition is true, in a table with the data columns `schema`. Picklable.

    `keys` (columns `KEYS`) are those of rows to be erased: no file may hold them either.
    """

    condition: str
    schema: pa.Schema
    keys: pa.Table

    @cached_property
    def expression(self) -> pc.Expression:
        """The condition, for rows with `columns`."""
        return parse_filter(self.condition, self.schema)

    @cached_property
    def columns(self) -> pa.Schema:
        """The columns that the condition names."""
        tree = parse_condition(self.condition)
        named = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
        return pa.schema([field for field in self.schema if field.name.lower() in named])

    @property
    def digest(self) -> str:
        """SHA-256 of the condition: the record of a purge names it in place of the values."""
        return sha256(self.condition.encode()).hexdigest()

    def keys_of(self, partition: str) -> pa.ChunkedArray:
        """The keys to be erased in a partition."""
        return self.keys.filter(pc.equal(self.keys[PARTITION], partition))[KEY]

    @cached_property
    def values(self) -> frozenset[str]:
        """The keys, and the values that the condition asks for, as text."""
        tree = parse_condition(self.condition)
        literals = (str(literal.this) for literal in tree.find_all(exp.Literal) if _is_compared(literal))
        return frozenset([*literals, *self.keys[KEY].to_pylist()])

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Those that the bytes of files are searched for: not short ones, and a limited number."""
        return tuple(sorted(text for text in self.values if len(text) >= _SHORTEST)[:_MOST])

    @property
    def key_count(self) -> int:
        """The number of keys, each counted once."""
        return int(pc.count_distinct(self.keys[KEY]).as_py())

    @property
    def unsearched(self) -> int:
        """Number of values that the bytes of files are not searched for."""
        return len(self.values) - len(self.texts)

    @cached_property
    def needles(self) -> tuple[bytes, ...]:
        return tuple(text.encode() for text in self.texts)


def subject_of(state: TableState, condition: str, keys: pa.Table | None = None) -> Subject:
    """The subject of a condition. Raises ArgumentError for text that is not a condition, and UnsupportedTableError for a table
    without record keys, or without columns."""
    schema = table_schema(state)
    if schema is None or not state.properties.record_key_fields:
        raise UnsupportedTableError(
            f"Rows of table {state.storage.base_path} cannot be purged",
            found="it has no columns yet" if schema is None else "its rows have generated keys",
            fix="overwrite the partitions that hold them, then run `hudi-services clean`",
        )
    subject = Subject(condition, schema, KEYS.empty_table() if keys is None else keys)
    subject.expression  # noqa: B018 - a mistake ends here
    return subject


def key_rows(rows: pa.Table, partition: str) -> pa.Table:
    """The keys of rows of a partition as `KEYS`."""
    keys = rows[RECORD_KEY].cast(pa.string())
    return pa.table([pa.repeat(pa.scalar(partition, pa.string()), len(keys)), keys], schema=KEYS)


def united(tables: Iterator[pa.Table]) -> pa.Table:
    """Each key once, in order."""
    both = pa.concat_tables([KEYS.empty_table(), *tables])
    return both.group_by([PARTITION, KEY]).aggregate([]).sort_by([(PARTITION, "ascending"), (KEY, "ascending")])


def _is_compared(literal: exp.Literal) -> bool:
    return isinstance(literal.parent, exp.EQ | exp.In)
