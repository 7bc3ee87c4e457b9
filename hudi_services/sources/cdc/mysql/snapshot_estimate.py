"""How long a snapshot takes, as far as the server knows, and whether its log is kept for as long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoodie.display import size_of
from hoodie.times import span
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.log_retention import log_retention

if TYPE_CHECKING:
    from pymysql.connections import Connection

_TABLE = """
SELECT COALESCE(table_rows, 0), COALESCE(data_length, 0) FROM information_schema.tables
WHERE table_schema = %s AND table_name = %s
"""
_ROWS_PER_SECOND = 150_000
_BYTES_PER_SECOND = 30 << 20
_MARGIN = 2  # the log should be kept for as many times the time that is left


@dataclass(frozen=True)
class SnapshotEstimate:
    """Rows and bytes of a table by the server's estimate, and for how many seconds it keeps its log (0: for ever)."""

    rows: int
    size: int
    retention: float


def snapshot_estimate(connection: Connection[Any], table: DeclaredTable) -> SnapshotEstimate:
    """Ask the server."""
    estimates = rows_of(connection, _TABLE, (table.database, table.name))
    rows, size = (int(estimates[0][0]), int(estimates[0][1])) if estimates else (0, 0)
    return SnapshotEstimate(rows, size, log_retention(connection))


def snapshot_seconds(rows: int, size: int) -> float:
    """Return about how long a snapshot of these rows and bytes takes."""
    return max(rows / _ROWS_PER_SECOND, size / _BYTES_PER_SECOND)


@dataclass
class SnapshotPace:
    """Lines about a snapshot in chunks: how many rows there are, how fast they come, and if the log is kept until its end."""

    estimate: SnapshotEstimate
    table: str
    report: Callable[[str], None]
    earlier: int = 0
    """Rows that earlier runs committed."""
    now: Callable[[], float] = time.monotonic
    _rows: int = 0
    _began: float = field(init=False)
    _warned: bool = False

    def __post_init__(self) -> None:
        self._began = self.now()
        rows, size = self.estimate.rows, size_of(self.estimate.size)
        self.report(f"{self.table} has about {rows:,} rows, {size}. They are read in chunks")

    def committed(self, rows: int) -> None:
        """Report rows that were committed."""
        self._rows += rows
        spent = max(self.now() - self._began, 0.001)
        pace = self._rows / spent
        rows_read = self.earlier + self._rows
        seconds_left = max(self.estimate.rows - rows_read, 0) / max(pace, 1)
        self.report(
            f"{rows_read:,} of about {self.estimate.rows:,} rows, {pace:,.0f} rows/s, about {span(seconds_left)} left"
        )
        if self.estimate.retention and spent + _MARGIN * seconds_left > self.estimate.retention and not self._warned:
            self._warned = True
            self.report(
                f"The server keeps its log for {span(self.estimate.retention)} only. All rows have to be read again when it "
                "removes the file at which this snapshot began. Keep logs for longer: "
                f"SET GLOBAL binlog_expire_logs_seconds = {int(4 * (spent + seconds_left)) + 1}"
            )
