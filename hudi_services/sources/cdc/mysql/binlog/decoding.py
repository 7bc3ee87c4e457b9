"""Choices of a user: how values of a server become values of a table, in rows of snapshots and of the binlog alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn, TableMap
from hudi_services.sources.cdc.mysql.binlog.times import DATED
from hudi_services.sources.cdc.mysql.binlog.values import column_type

ZeroDates = Literal["null", "text", "fail"]


@dataclass(frozen=True)
class Choices:
    """Choices for the columns of a table.

    `zero_dates`: dates that no calendar has, such as 0000-00-00, are null, or all dates and times with a date are text as the
    server prints it, or the reader fails. `as_text`: columns of bytes that are read as hexadecimal digits, and columns of dates
    that are read as text.
    """

    zero_dates: ZeroDates = "null"
    as_text: frozenset[str] = frozenset()

    def applied(self, column: LoggedColumn) -> LoggedColumn:
        """Return the column with what was chosen for it."""
        if column.name in self.as_text and may_be_text(column):
            return replace(column, choice="text")
        chosen = self.zero_dates != "null" and column.code in DATED
        return replace(column, choice=self.zero_dates) if chosen else column


PLAIN = Choices()
"""The choices of a user who says nothing."""


@dataclass(frozen=True)
class Decoding:
    """How a log is read: choices by database and table, and types by database, table and column that the log does not have."""

    choices: Mapping[tuple[str, str], Choices] = field(default_factory=dict)
    declared: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    def table(self, table: TableMap) -> TableMap:
        """Return a table of the log with what was chosen for its columns and is known of them."""
        chosen = self.choices.get((table.database, table.table), PLAIN)
        if chosen == PLAIN and not self.declared:
            return table
        return replace(table, columns=tuple(chosen.applied(self._known(table, column)) for column in table.columns))

    def _known(self, table: TableMap, column: LoggedColumn) -> LoggedColumn:
        declared = self.declared.get((table.database, table.table, column.name))
        return replace(column, declared=declared) if declared is not None else column


AS_LOGGED = Decoding()
"""Nothing is chosen or known."""


def may_be_text(column: LoggedColumn) -> bool:
    """Return True for columns of bytes and of dates, which may be read as text."""
    return column.code in DATED or (pa.types.is_binary(column_type(column)) and column.code is not Code.GEOMETRY)
