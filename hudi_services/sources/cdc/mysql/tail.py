"""Changes of a server, for people who look at what the server sends."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.binlog.decoding import Decoding
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets, end_of_log, events
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement, transactions
from hudi_services.sources.cdc.mysql.columns import declared_types
from hudi_services.sources.cdc.mysql.connection import connected, is_mariadb
from hudi_services.sources.cdc.mysql.position import log_position


def tailed(
    name: str,
    server: DatabaseServer,
    environ: Mapping[str, str],
    tables: Sequence[str],
    since: str | None,
    *,
    follow: bool,
) -> Iterator[Mapping[str, Any]]:
    """Yield values for each change and each statement after `since` (FILE:OFFSET; None: the end of the log).

    `tables` are DATABASE.TABLE. Empty means all of the registry's databases, or all. Raises HoodieError.
    """
    followed = _tables(tables)
    with connected(name, server, environ) as connection:
        start = log_position(since) if since is not None else end_of_log(connection)
        charsets = collation_charsets(connection)
        mariadb = is_mariadb(connection)
        decoding = Decoding(declared=declared_types(connection, sorted(followed)))

    def is_wanted(database: str, table: str) -> bool:
        return (database, table) in followed if followed else not server.databases or database in server.databases

    with connected(name, server, environ) as connection:
        log = events(connection, server.server_id, start, wait=follow)
        try:
            for part in transactions(log, charsets, is_wanted, mariadb=mariadb, decoding=decoding):
                if isinstance(part, Unreadable):
                    raise ValueError(f"before {part.position}: {part.reason}")
                yield from _values(part)
        except ValueError as error:
            raise SourceError(
                f"The binlog of {name} after {start} cannot be read",
                found=str(error),
                fix=f"run `hudi-services cdc check {name}`, or begin after it with --since",
            ) from error


def _tables(names: Sequence[str]) -> set[tuple[str, str]]:
    pairs = [name.partition(".") for name in names]
    for name, (database, _, table) in zip(names, pairs, strict=True):
        if not database or not table:
            raise ConfigError(f"{name!r:.100} is no table of a server", fix="write DATABASE.TABLE, such as shop.orders")
    return {(database, table) for database, _, table in pairs}


def _values(part: Changes | Statement) -> Iterator[Mapping[str, Any]]:
    common = {"position": str(part.position), "time": datetime.fromtimestamp(part.seconds, UTC).isoformat()}
    if isinstance(part, Statement):
        yield {**common, "database": part.database, "statement": part.text.encode("utf-8", "replace").decode()}
        return
    table = f"{part.shape.database}.{part.shape.table}"
    for change in part.changes.drop_columns(["number"]).to_pylist():
        yield {**common, "table": table, **change}


def as_text(values: Mapping[str, Any]) -> str:
    """Return a line for people: the time, the position, and the statement or the rows."""
    begin = f"{values['time']}  {values['position']}"
    if "statement" in values:
        return f"{begin}  {' '.join(values['statement'].split())}"
    rows = " -> ".join(as_json(values[image]) for image in ("before", "after") if values[image] is not None)
    return f"{begin}  {values['op']} {values['table']}  {rows}"


def as_json(values: Mapping[str, Any]) -> str:
    """Return a line of JSON."""
    return json.dumps(values, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    """Texts for values that JSON does not have: base64 for bytes, ISO 8601 for times, digits for decimals."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat is not None else str(value)
