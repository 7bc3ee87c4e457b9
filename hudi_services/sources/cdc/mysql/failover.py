"""Stored positions in the log as it is now: the same place, or the place after the same transactions on another server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition, log_identity, server_identity
from hudi_services.sources.cdc.mysql.log_positions import LogPositions

if TYPE_CHECKING:
    from pymysql.connections import Connection


def located(control: Connection[Any], stored: StoredPosition, positions: LogPositions) -> StoredPosition:
    """Return where `stored` is in the log of the server that answers now.

    After a failover that is another server, whose log has the transactions that were read. Raises SourceError where changes may
    be missing between: for a log that was purged or reset, for a server without these transactions, where they are not known,
    and for another server inside a snapshot in chunks.
    """
    try:
        identity = log_identity(control, stored.place, positions.created)
    except SourceError as error:
        if error.retryable:
            raise
        identity = None
    if identity is not None and stored.is_of(identity):
        positions.know(stored)
        return stored
    missing = SourceError(
        f"The binlog of {stored.source} does not continue at {stored.position}",
        found=f"{identity or 'no such position, as after a purge or a reset'}, where the table has {stored.log}",
        fix="load the table again with --start-fresh. Logs that are kept longer prevent it: `hudi-services cdc check SERVER`",
    )
    if not stored.transactions or server_identity(control) == stored.server or stored.snapshot is not None:
        raise missing  # the chunks of a snapshot are of places in the log of one server
    try:
        place = positions.after(control, stored.transactions)
    except SourceError as error:
        if error.retryable:
            raise
        raise missing from error
    return positions.stored_position(control, stored.source, place)
