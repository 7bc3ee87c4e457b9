"""The place in the log of a MySQL server after transactions that were read from another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.binlog.log import FIRST_OFFSET, end_of_log, events
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.gtid_set import (
    GtidSet,
    gtid_set,
    logged_transaction,
    previous_transactions,
    tagged_transaction,
)
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.snapshot_place import committing

if TYPE_CHECKING:
    from pymysql.connections import Connection


def executed_transactions(connection: Connection[Any], place: LogPosition) -> str:
    """Return the transactions before the end of the log. Empty where that is another place, or something commits."""
    if committing(connection) != set() or end_of_log(connection) != place:
        return ""
    [[executed]] = rows_of(connection, "SELECT @@GLOBAL.gtid_executed")
    if end_of_log(connection) != place:
        return ""
    transactions = gtid_set(str(executed))
    return str(transactions) if transactions is not None else ""


def place_after(
    control: Connection[Any], opened: Callable[[], AbstractContextManager[Connection[Any]]], server_id: int, text: str
) -> LogPosition:
    """Return where the first transaction begins that is not among those of `text`, the end of the log where all are.

    Later ones may be among them: their changes are applied again, in the order of this log. Raises SourceError where the server
    does not have all of them, or no longer has others.
    """
    [[has_all, has_next]] = rows_of(
        control,
        "SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed), GTID_SUBSET(@@GLOBAL.gtid_purged, %s)",
        (text, text),
    )
    transactions = gtid_set(text)
    if transactions is None or not (has_all and has_next):
        raise SourceError(
            "The server does not have the transactions that were read, or no longer those after them",
            found=text,
            fix="load the tables again. Logs that are kept longer prevent it: `hudi-services cdc check SERVER`",
        )
    for file in reversed([str(row[0]) for row in rows_of(control, "SHOW BINARY LOGS")]):
        with opened() as connection:
            log = events(connection, server_id, LogPosition(file, FIRST_OFFSET), wait=False)
            if (before := _previous(log)) is not None and before <= transactions:
                return _first_other(log, transactions, LogPosition(file, FIRST_OFFSET))
    raise SourceError(
        "No file of the server's log begins with transactions that were read",
        found=text,
        fix="load the tables again with --start-fresh",
    )


def _previous(log: Iterator[tuple[LogPosition, Event]]) -> GtidSet | None:
    return next((previous_transactions(event.body) for _, event in log if event.kind is Kind.PREVIOUS_GTIDS), None)


def _first_other(log: Iterator[tuple[LogPosition, Event]], transactions: GtidSet, begin: LogPosition) -> LogPosition:
    place = begin
    for position, event in log:
        if (event.kind is Kind.GTID and logged_transaction(event.body) not in transactions) or (
            event.kind is Kind.GTID_TAGGED and tagged_transaction(event.body) not in transactions
        ):
            return place
        place = max(place, position) if event.end or event.kind is Kind.ROTATE else place
    return place
