"""The identity of a log: file names and offsets come again after RESET MASTER and a failover, with other transactions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie.errors import ConfigError, CorruptTableError
from hudi_services.cdc.mysql.connection import is_mariadb, rows_of
from hudi_services.cdc.mysql.position import LogPosition, log_position
from hudi_services.cdc.mysql.snapshot_progress import SnapshotProgress, snapshot_progress

if TYPE_CHECKING:
    from pymysql.connections import Connection

KEY = "hudi_services.cdc.mysql.position"
"""The extra metadata of commits that holds how far a table has taken in the binlog."""


@dataclass(frozen=True)
class StoredPosition:
    """The source (server/database.table), the place in its log, and what identifies the log: the server, the transactions before
    the place (MariaDB), and when the file of the place began.

    `snapshot` is set while the table is not equal to its source at the position, since its rows are of several moments."""

    source: str
    position: str
    log: str
    snapshot: SnapshotProgress | None = None

    @property
    def is_loading(self) -> bool:
        """Rows of the snapshot are missing."""
        return self.snapshot is not None and not self.snapshot.is_read

    @property
    def text(self) -> str:
        progress = {"snapshot": self.snapshot.document} if self.snapshot is not None else {}
        return json.dumps({"source": self.source, "position": self.position, "log": self.log, **progress})

    @property
    def place(self) -> LogPosition:
        return log_position(self.position)


def stored_position(text: str, where: str) -> StoredPosition:
    """Read what `StoredPosition.text` wrote. Raises CorruptTableError for any other text."""
    try:
        fields = json.loads(text)
        progress = fields.pop("snapshot", None)
        stored = StoredPosition(**fields, snapshot=snapshot_progress(progress) if progress is not None else None)
        _ = stored.place
        return stored
    except (AttributeError, KeyError, TypeError, ValueError, ConfigError) as error:
        raise CorruptTableError(
            f"The position of a source in {where} cannot be read",
            found=f"{text!r:.200}",
            fix="load again with --start-fresh",
        ) from error


def log_identity(connection: Connection[Any], position: LogPosition, created: Callable[[str], int]) -> str | None:
    """Return what identifies the log up to a position. None where the server does not have this position.

    `created` says when a file of the log began: a server that is set up again by the same statements has the same transactions.
    """
    if not is_mariadb(connection):
        [[server]] = rows_of(connection, "SELECT @@server_uuid")
        return f"server {server}, file of {created(position.file)}"
    [[server, transactions]] = rows_of(
        connection, "SELECT @@server_id, BINLOG_GTID_POS(%s, %s)", (position.file, position.offset)
    )
    if transactions is None:
        return None
    return f"server {server}, transactions {transactions}, file of {created(position.file)}"
