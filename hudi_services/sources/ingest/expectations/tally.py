"""Rows that break conditions, counted batch by batch in the workers: memory does not grow with the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ArgumentError, ConfigError
from hoodie.read.filters.text import parse_filter
from hoodie.schema import find_field, values_of
from hudi_services.entry.feed.expect import filter_text
from hudi_services.runtime.json_values import told_values

Conditions = Sequence[tuple[str, str]]


@dataclass
class Tally:
    """The number of rows, of rows that break each condition, and one of their values (None: none breaks it)."""

    rows: int = 0
    broken: list[int] = field(default_factory=list)
    examples: list[str | None] = field(default_factory=list)

    @staticmethod
    def of(count: int) -> Tally:
        """An empty one for `count` conditions."""
        return Tally(0, [0] * count, [None] * count)

    @staticmethod
    def union(parts: Iterable[Tally], count: int) -> Tally:
        """All of them together."""
        result = Tally.of(count)
        for part in parts:
            result.rows += part.rows
            result.broken = [one + other for one, other in zip(result.broken, part.broken, strict=True)]
            result.examples = [
                one if one is not None else other for one, other in zip(result.examples, part.examples, strict=True)
            ]
        return result


@dataclass(frozen=True)
class Tallying:
    """Task function: a split's batches -> their tally. Picklable."""

    conditions: tuple[tuple[str, str], ...]
    schema: pa.Schema

    def __call__(self, _number: int, batches: Iterator[pa.RecordBatch]) -> Tally:
        counter = self.counter()
        for batch in batches:
            counter.add(pa.Table.from_batches([batch]))
        return counter.tally

    def counter(self) -> Counter:
        """A counter for one split. Raises ConfigError for conditions that do not fit the columns."""
        return Counter([_Broken.of(name, text, self.schema) for name, text in self.conditions])


class Counter:
    """Counts the rows of one split."""

    def __init__(self, conditions: Sequence[_Broken]) -> None:
        self._conditions = conditions
        self.tally = Tally.of(len(conditions))

    def add(self, rows: pa.Table) -> None:
        tally = self.tally
        tally.rows += rows.num_rows
        for place, condition in enumerate(self._conditions):
            broken_rows = condition.rows(rows)
            tally.broken[place] += broken_rows.num_rows
            if broken_rows.num_rows and tally.examples[place] is None:
                values = values_of(broken_rows, condition.column).slice(0, 1)
                tally.examples[place] = "null" if values.null_count else f"{next(iter(told_values(values)))}"


@dataclass(frozen=True)
class _Broken:
    """The rows of a column that break a condition. NaN breaks each condition that it does not meet."""

    column: str
    breaks: pc.Expression
    meets: pc.Expression
    floats: bool

    @classmethod
    def of(cls, column: str, condition: str, schema: pa.Schema) -> _Broken:
        column_field = find_field(schema, column)
        if column_field is None:
            raise ConfigError(
                f"`expect` names the column {column!r}, which the rows do not have",
                found=f"columns {', '.join(schema.names)}",
                fix="correct `expect` of the source; nothing was loaded",
            )
        text = filter_text(column, condition)
        try:
            return cls(
                column,
                parse_filter(f"not ({text})", schema),
                parse_filter(text, schema),
                pa.types.is_floating(column_field.type),
            )
        except ArgumentError as error:
            raise ConfigError(
                f"The condition {condition!r} of column {column!r} in `expect` cannot be checked",
                found=f"{error.what}{f': {error.found}' if error.found else ''}",
                fix="correct `expect` of the source; nothing was loaded",
            ) from None

    def rows(self, rows: pa.Table) -> pa.Table:
        column = rows.select([self.column.partition(".")[0]])
        broken = column.filter(self.breaks)
        if not self.floats:
            return broken
        odd = column.filter(pc.is_nan(values_of(column, self.column)).combine_chunks().fill_null(False))
        decided = odd.filter(self.meets).num_rows + odd.filter(self.breaks).num_rows
        return pa.concat_tables([broken, odd.slice(0, odd.num_rows - decided)])
