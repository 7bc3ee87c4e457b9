"""The result of a comparison of a table with its source, and of a repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.equality.row_difference import RowDifference


@dataclass(frozen=True)
class Example:
    """A key whose rows differ. `kind` is `missing` (in the lake), `surplus` (not at the server), `changed` or `copied` (more than
    once in the lake). `server` and `lake` are the values of `columns`, where they were asked for."""

    kind: str
    key: dict[str, Any]
    columns: list[str] = field(default_factory=list)
    server: dict[str, Any] | None = None
    lake: dict[str, Any] | None = None


@dataclass
class TableCounts:
    """A table of several that are one Hudi table: its rows on both sides, and how many differ, as in `EqualityReport`.

    `shared` rows are not compared: the Hudi table has a row of their key from another table. `unasked` counts values of the
    lake in columns that the table does not have at the server, which are not compared either.
    """

    rows: int = 0
    lake_rows: int = 0
    missing: int = 0
    surplus: int = 0
    changed: int = 0
    copied: int = 0
    shared: int = 0
    unasked: dict[str, int] = field(default_factory=dict)

    @property
    def differing(self) -> int:
        """The number of rows that differed."""
        return self.missing + self.surplus + self.changed + self.copied

    @property
    def note(self) -> str:
        """The rows and values that were not compared, in words. Empty if all were."""
        keys = [f"{self.shared:,} rows whose keys the lake has from another table"] if self.shared else []
        columns = [
            f"{count:,} values of the column {name}, which the table lacks" for name, count in self.unasked.items()
        ]
        return f"not compared: {', '.join([*keys, *columns])}" if keys or columns else ""


@dataclass
class EqualityReport:
    """The rows of `source` at `position` of its log against those of the Hudi table at its commit `instant`.

    `rows` and `lake_rows` are the numbers of rows of both sides, `rows_read` how many of the server's were read one by one. Rows
    of the lake are `missing`, `surplus`, `changed` (`columns` counts in which columns) or `copied`. `written` rows repair it.
    `masked` are the masks of columns, whose values are compared after them. A column that is dropped is not compared. `tables`
    are those of a Hudi table of several, by name, `left` those that were not compared, with the reason. It has rows of tables
    that are `removed`, which nothing loads any more, and of `others`, which were never loaded: nothing compares or repairs these.
    """

    source: str
    position: str
    instant: str
    rows: int = 0
    lake_rows: int = 0
    rows_read: int = 0
    missing: int = 0
    surplus: int = 0
    changed: int = 0
    copied: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    written: int = 0
    masked: dict[str, str] = field(default_factory=dict)
    tables: dict[str, TableCounts] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    @property
    def differing(self) -> int:
        """The number of rows that differed."""
        return self.missing + self.surplus + self.changed + self.copied

    @property
    def is_equal(self) -> bool:
        """True where both sides are equal now. Tables that were not compared are not."""
        return (not self.differing or self.written > 0) and not self.left and not self.others

    @property
    def is_proof(self) -> bool:
        """True where all rows of the Hudi table were compared, and are equal now."""
        return self.is_equal and not self.removed and not any(table.shared for table in self.tables.values())

    def counted(self, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Count the rows of `parts` as written, while a write takes them."""
        for part in parts:
            self.written += part.num_rows
            yield part


@dataclass(frozen=True)
class Reporter:
    """Adds differences to a report, with `limit` examples at most. Examples have `values` only where they are asked for."""

    report: EqualityReport
    key: tuple[str, ...]
    limit: int
    values: bool

    def add(self, difference: RowDifference) -> None:
        """Count what differs, and take examples of it."""
        report = self.report
        report.missing += difference.missing.num_rows
        report.surplus += difference.surplus.num_rows
        report.changed += difference.server.num_rows
        report.copied += difference.copies.num_rows
        counts = {name: int(differs.sum()) for name, differs in difference.columns.items()}
        report.columns = dict(Counter(report.columns) + Counter(counts))
        self._examples("missing", difference.missing, None, {})
        self._examples("surplus", None, difference.surplus, {})
        self._examples("copied", None, difference.copies, {})
        self._examples("changed", difference.server, difference.lake, difference.columns)

    def _examples(
        self, kind: str, server: pa.Table | None, lake: pa.Table | None, columns: Mapping[str, np.ndarray]
    ) -> None:
        room = self.limit - len(self.report.examples)
        some = server if server is not None else lake
        if room <= 0 or some is None:
            return
        keys = some.select(self.key).slice(0, room).to_pylist()
        servers, lakes = (None if rows is None else rows.slice(0, room).to_pylist() for rows in (server, lake))
        for number, key in enumerate(keys):
            names = [name for name, differs in columns.items() if differs[number]]
            shown = names or some.schema.names
            sides = (
                {name: rows[number][name] for name in shown} if self.values and rows is not None else None
                for rows in (servers, lakes)
            )
            self.report.examples.append(Example(kind, key, names, *sides))
