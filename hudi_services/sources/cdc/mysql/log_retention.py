"""The time for which a server keeps its log."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.sync_progress import LogRetention

if TYPE_CHECKING:
    from pymysql.connections import Connection


def log_retention(connection: Connection[Any]) -> float:
    """Return for how many seconds the server keeps a file of its log after the last event, 0: for ever."""
    names = ("binlog_expire_logs_seconds", "expire_logs_days")
    settings = dict(rows_of(connection, "SHOW GLOBAL VARIABLES WHERE Variable_name IN (%s, %s)", names))
    return float(settings.get(names[0], 0)) or float(settings.get(names[1], 0)) * 86_400


def log_kept(
    connection: Connection[Any], needed: Collection[LogPosition], created: Callable[[str], int]
) -> LogRetention:
    """Return until when the server keeps its log from the first of the `needed` positions on.

    A file is removed some time after its last event, so that of the last one has not begun yet. `created` says when a file
    began, in seconds since 1970. Raises pymysql's errors and HoodieError.
    """
    retention = log_retention(connection)
    files = [str(row[0]) for row in rows_of(connection, "SHOW BINARY LOGS")]
    missing = [position for position in needed if position.file not in files]
    first = min(missing or needed)
    if missing:
        return LogRetention(retention, str(first), None, without=True)
    if not retention:
        return LogRetention(retention, str(first), None)
    next_file = files.index(first.file) + 1
    if next_file < len(files):
        ended = float(created(files[next_file]))
    else:
        [[now]] = rows_of(connection, "SELECT UNIX_TIMESTAMP(NOW(6))")
        ended = float(now)
    return LogRetention(
        retention, str(first), (datetime.fromtimestamp(ended, UTC) + timedelta(seconds=retention)).isoformat()
    )
