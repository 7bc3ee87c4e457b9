"""Result of a statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.display import Shown, Shows
from hoodie.errors import SqlError
from hoodie.model.outcome import ServiceOutcome

_MOST_SHOWN = 20


@dataclass(frozen=True, repr=False)
class Result(Shows):
    """The rows of a query, or what a statement did in one line. A result is anything with the Arrow C stream, too."""

    table: pa.Table
    message: str | None = None
    """None for a query."""
    services: tuple[ServiceOutcome, ...] = ()
    """Services that ran after the commits of the statement, as options asked. One that failed undoes no commit; the message
    reports it."""

    note: str | None = None
    """More about the rows of a query, such as the moment of which they are."""

    @classmethod
    def of_message(cls, message: str, services: tuple[ServiceOutcome, ...] = ()) -> Result:
        """The result of a statement without rows."""
        failed = [f"{service.service} after it FAILED: {service.message}" for service in services if service.failed]
        return cls(pa.table({}), "; ".join([message, *failed]), services)

    def shown(self) -> Shown:
        """The first rows as a table."""
        if self.message is not None:
            return Shown(f"Result({self.message})")
        first = self.table.slice(0, _MOST_SHOWN)
        line = f"Result({self.table.num_rows:,} rows)"
        rows = [tuple(str(value) for value in row) for row in python_rows(first)]
        return Shown(line, columns=tuple(self.table.column_names), rows=rows)

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as Python values, for few of them. Raises SqlError for a date or time that Python has no value for."""
        return list(python_rows(self.table))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.table.to_batches():
            yield from python_rows(batch)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def python_rows(rows: pa.Table | pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The rows as Python values. Raises SqlError for a date or time outside the years 1 to 9999, which Python does not have."""
    names = rows.schema.names
    return zip(*(_values(name, column) for name, column in zip(names, rows.columns, strict=True)), strict=True)


def _values(name: str, column: pa.Array | pa.ChunkedArray) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError) as error:
        raise SqlError(
            f"Column {name} has a value of type {column.type} that Python has no value for",
            found=str(error),
            fix="write CAST(… AS STRING) in the query, or take the Arrow table of the result: result.table",
        ) from error
