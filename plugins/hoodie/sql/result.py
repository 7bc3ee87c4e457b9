"""What a statement gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.display import Shown, Shows
from hoodie.model.outcome import ServiceOutcome

_SHOWN = 20


@dataclass(frozen=True, repr=False)
class Result(Shows):
    """The rows of a query, or what a statement did in one line. A result is anything with the Arrow C stream, too."""

    table: pa.Table
    message: str | None = None
    """None for a query."""
    services: tuple[ServiceOutcome, ...] = ()
    """What ran after the commits of the statement, as options asked. One that failed undoes no commit; the message tells it."""

    @classmethod
    def told(cls, message: str, services: tuple[ServiceOutcome, ...] = ()) -> Result:
        """Of a statement that gives no rows."""
        failed = [f"{each.service} after it FAILED: {each.message}" for each in services if each.failed]
        return cls(pa.table({}), "; ".join([message, *failed]), services)

    def shown(self) -> Shown:
        """The first rows as a table."""
        if self.message is not None:
            return Shown(f"Result({self.message})")
        first = self.table.slice(0, _SHOWN)
        line = f"Result({self.table.num_rows:,} rows)"
        rows = [tuple(str(value) for value in row) for row in zip(*(c.to_pylist() for c in first.columns), strict=True)]
        return Shown(line, columns=tuple(self.table.column_names), rows=rows)

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as Python values, for few of them."""
        return list(zip(*(column.to_pylist() for column in self.table.columns), strict=True))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.table.to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)
