"""The command `cdc status`: how far all tables of a server are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hoodie.errors import HoodieError
from hoodie.times import span
from hudi_services.cli.commands.cdc_declaration import declaration, pipeline_flag
from hudi_services.cli.commands.cdc_sync import tables_behind
from hudi_services.cli.commands.topic_status import topic_page
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples
from hudi_services.entry.server import KafkaServer

if TYPE_CHECKING:
    from hudi_services.operations.inspect.page import Part
    from hudi_services.sources.databases.status import LogLeft, ServerStatus, TableStatus

_AT_ONCE = 16  # tables whose proof is read


def _status(server: str, registry: str | None, pipeline: str | None, as_json: bool) -> int:
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Facts, Listing, Page
    from hudi_services.registry.database_tables import status_of

    reading = declaration(server, registry, pipeline).reading
    declared = reading.registry.servers.get(server)
    if isinstance(declared, KafkaServer):
        return print_page(topic_page(server, declared, reading.registry, os.environ), as_json=as_json)
    status = status_of(server, reading, datetime.now(UTC))
    rows = [{**_row(table), **proof} for table, proof in zip(status.tables, _proofs(status.tables), strict=True)]
    columns = (
        Column("table", "table"),
        Column("state", "state"),
        Column("instant", "last commit"),
        Column("lag", "lag", span, right=True),
        Column("verified_at", "verified", rank=2),
    )
    parts: list[Part] = [Facts(list(_facts(status)), server), Listing(columns, rows)]
    problems = tables_behind(rows, parts)
    return print_page(Page({**asdict(status), "tables": rows}, parts, problems), as_json=as_json)


def _row(table: TableStatus) -> dict[str, Any]:
    values = asdict(table)
    loading = values.pop("loading") or {"rows": None, "estimate": None}
    return {**values, "rows_read": loading["rows"], "rows_estimated": loading["estimate"]}


def _proofs(tables: Sequence[TableStatus]) -> list[dict[str, str]]:
    """The point up to which each table was verified, empty where it was not, or where that cannot be read."""
    from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to

    def proof(table: TableStatus) -> dict[str, str]:
        try:
            result = verified_up_to(table.base_path) if table.state != "new" else None
        except (HoodieError, OSError):
            result = None
        return {
            "verified_at": result.verified_at if result is not None else "",
            "verified_position": result.position if result is not None else "",
        }

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(proof, tables))


def _facts(status: ServerStatus) -> Iterator[tuple[str, str]]:
    if status.cut is None:
        yield "last cut", f"none: `hudi-services cdc sync {status.server}` has not run to its end"
    else:
        yield "last cut", f"{status.cut}, {span(status.age)} ago"
        yield "server's time", str(status.time)
        yield "position", str(status.position)
    if status.lag is not None:
        yield "lag", f"half of the tables {span(status.lag.p50)}, 99 of 100 {span(status.lag.p99)} at most"
    if status.log is not None:
        yield "log kept", log_words(status.log)
    if status.running is not None:
        yield "running", f"since {status.running}"
    if status.snapshots is not None:
        snapshots = status.snapshots
        yield (
            "snapshots",
            f"{snapshots.tables:,} of {snapshots.of_tables:,} tables, {snapshots.rows:,} of about {snapshots.of_rows:,} rows",
        )


def log_words(log: LogLeft) -> str:
    """The time for which the server keeps what is needed of its log, in words."""
    if log.without:
        return f"the log has no {log.position}, which a table needs. After a failover the next run finds another place"
    if log.seconds is None:
        return "for ever" if not log.retention else "not known"
    if log.seconds <= 0:
        return f"the server may have removed {log.position}, which is needed: run again"
    return f"for at least {span(log.seconds)} from {log.position} on"


status = click.Command(
    "status",
    callback=_status,
    params=[click.Argument(["server"]), registry_flag(), pipeline_flag(), json_flag(), wide_flag(), verbose_flag()],
    help="Print how far the tables of a server are, how long it keeps the log that they need, and why some are behind. It asks "
    "the lake only, not the server.\n\nFor a server of Kafka it prints how many messages of its topics the tables lack, and asks "
    "the brokers for that.\n\nExit code 1: a table is behind by an error.",
    epilog=with_examples(("hudi-services cdc status shop --registry tables.yaml",)),
    context_settings=CONTEXT,
)
