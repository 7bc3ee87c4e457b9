"""The identity of a log: file names and offsets come again after RESET MASTER and a failover, with other transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hoodie.errors import ConfigError, CorruptTableError
from hudi_services.sources.cdc.mysql.connection import is_mariadb, rows_of
from hudi_services.sources.cdc.mysql.position import LogPosition, log_position
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress, snapshot_progress
from hudi_services.sources.cdc.mysql.table_names import name_ranges, names_of

if TYPE_CHECKING:
    from pymysql.connections import Connection

_LOG = re.compile(r"server (?P<server>\S+), (?:transactions (?P<transactions>\S*), )?file of (?P<created>\d+)")
KEY = "hudi_services.cdc.mysql.position"
"""The extra metadata of commits that holds how far a table has taken in the binlog."""


@dataclass(frozen=True)
class StoredPosition:
    """The source (server/database.table), the place in its log, and what identifies the log: the server, the transactions before
    the place (those of MySQL may be missing), and when the file of the place began.

    `snapshot` is set while the table is not equal to its source at the position, since its rows are of several moments.

    The position of a Hudi table with several sources has one of each in `tables`, by the names of the tables at the server. Its
    own place is the latest of theirs."""

    source: str
    position: str
    log: str
    snapshot: SnapshotProgress | None = None
    tables: Mapping[str, StoredPosition] = field(default_factory=dict, hash=False)

    @property
    def is_loading(self) -> bool:
        """Rows of the snapshot are missing."""
        return self.snapshot is not None and not self.snapshot.is_read

    @property
    def text(self) -> str:
        """The position as commits hold it. Tables at one place are one entry."""
        tables = {"tables": self._groups()} if self.tables else {}
        return json.dumps(
            {"source": self.source, "position": self.position, "log": self.log, **_progress(self), **tables}
        )

    @property
    def place(self) -> LogPosition:
        return log_position(self.position)

    @property
    def server(self) -> str:
        """The server, as `server_identity` named it."""
        match = _LOG.fullmatch(self.log)
        return match["server"] if match is not None else ""

    @property
    def transactions(self) -> str:
        """The transactions before the place, by their GTIDs. Empty where they are not known."""
        match = _LOG.fullmatch(self.log)
        return (match["transactions"] or "") if match is not None else ""

    def is_of(self, identity: str) -> bool:
        """Return True where `log_identity` says this of the place. It does not say which transactions MySQL has before it."""
        match = _LOG.fullmatch(self.log)
        return identity == self.log or (
            match is not None and identity == f"server {match['server']}, file of {match['created']}"
        )

    def _groups(self) -> list[dict[str, object]]:
        """An entry for each place: that of the position itself is left out."""
        groups: dict[str, tuple[dict[str, object], list[str]]] = {}
        for name, table in self.tables.items():
            differs = (table.position, table.log) != (self.position, self.log)
            entry = {**({"position": table.position, "log": table.log} if differs else {}), **_progress(table)}
            groups.setdefault(json.dumps(entry), (entry, []))[1].append(name)
        return [{**entry, "names": name_ranges(names)} for entry, names in groups.values()]


def has_transactions(identity: str) -> bool:
    """Return True for what `log_identity` says on MariaDB, where it includes the transactions before the place."""
    match = _LOG.fullmatch(identity)
    return match is not None and match["transactions"] is not None


def identity_with(identity: str, transactions: str) -> str:
    """Return what identifies a log of MySQL, with the transactions before a place. They may be empty."""
    return identity.replace(", file of", f", transactions {transactions}, file of") if transactions else identity


def joined_position(source: str, tables: Mapping[str, StoredPosition]) -> StoredPosition:
    """Return the position of a Hudi table with several sources, of which there is one at least."""
    latest = max(tables.values(), key=lambda table: table.place)
    return StoredPosition(source, latest.position, latest.log, tables=tables)


def stored_position(text: str, where: str) -> StoredPosition:
    """Read what `StoredPosition.text` wrote. Raises CorruptTableError for any other text."""
    try:
        fields = json.loads(text)
        groups = fields.pop("tables", ())
        stored = _read(fields)
        return replace(stored, tables=dict(_tables(stored, groups))) if groups else stored
    except (AttributeError, KeyError, TypeError, ValueError, ConfigError) as error:
        raise CorruptTableError(
            f"The position of a source in {where} cannot be read",
            found=f"{text!r:.200}",
            fix="load again with --start-fresh",
        ) from error


def _progress(position: StoredPosition) -> dict[str, object]:
    return {"snapshot": position.snapshot.document} if position.snapshot is not None else {}


def _read(fields: dict[str, Any]) -> StoredPosition:
    progress = fields.pop("snapshot", None)
    stored = StoredPosition(**fields, snapshot=snapshot_progress(progress) if progress is not None else None)
    _ = stored.place
    return stored


def _tables(stored: StoredPosition, groups: Iterable[dict[str, Any]]) -> Iterable[tuple[str, StoredPosition]]:
    prefix = stored.source.removesuffix("*")
    for group in groups:
        names = group.pop("names")
        at = _read({"source": "", "position": stored.position, "log": stored.log, **group})
        yield from ((name, replace(at, source=f"{prefix}{name}")) for name in names_of(names))


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


def server_identity(connection: Connection[Any]) -> str:
    """Return what no other server of a cluster has: a UUID, MariaDB's number."""
    [[server]] = rows_of(connection, f"SELECT @@{'server_id' if is_mariadb(connection) else 'server_uuid'}")
    return str(server)
