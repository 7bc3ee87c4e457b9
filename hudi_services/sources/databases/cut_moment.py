"""One moment of a server at which its tables in the lake are: a transaction, and the cut at its place of the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie.errors import ConfigError, PendingInstantError
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.server_sync import ServerMoment, server_time
from hudi_services.sources.cdc.mysql.snapshot_place import QUIET_TRIES, begin_placed_snapshot
from hudi_services.sources.databases.plan_sync import PlannedSync

if TYPE_CHECKING:
    from pymysql.connections import Connection


@dataclass(frozen=True)
class CutMoment:
    """The cut, and a transaction on `connection` that sees the server at its place `position`."""

    cut: Cut
    position: LogPosition
    connection: Connection[Any]

    def at(self, source: str) -> StoredPosition:
        """Return the place as a commit of `source` holds it."""
        return StoredPosition(source, self.cut.position, self.cut.log)


@contextmanager
def cut_moment(sync: PlannedSync) -> Iterator[CutMoment]:
    """Bring all tables to the place of a transaction of the server, store a cut there, and yield both.

    Raises ConfigError for a MySQL that is never quiet or has no GTIDs, PendingInstantError where tables went past that place,
    and what a run of `sync` raises.
    """
    planner = sync.planner
    sync.run()  # so that new tables have rows, and little is left to apply while the transaction is open
    with connected(planner.name, planner.server, planner.environ) as connection:
        now = server_time(connection)
        place = begin_placed_snapshot(connection, tries=QUIET_TRIES)
        position = place.position
        if not place.is_exact:
            raise ConfigError(
                f"The tables of the server {planner.name} cannot be verified",
                found="a MySQL without GTIDs, or one that commits all the time",
                fix="set gtid_mode=ON, or run again when the server is quiet. Otherwise compare all rows of a table: "
                f"`hudi-services cdc resync --table {planner.name}.DATABASE.TABLE`",
            )
        result = sync.run(until=ServerMoment(position, now))
        cut = sync.cuts.latest()
        if result.position != str(position) or cut is None or cut.number != result.cut:
            raise PendingInstantError(
                f"The tables of {planner.name} went past the moment of the comparison",
                found=f"cut {result.cut} at {result.position}, and a transaction at {position}",
                fix="run again",
            )
        yield CutMoment(cut, position, connection)


def behind_reason(cut: Cut, name: str) -> str:
    """Return why a table is not in a cut."""
    behind = cut.behind.get(name)
    return f"it is behind: {behind.reason}" if behind is not None else "it is not loaded yet"
