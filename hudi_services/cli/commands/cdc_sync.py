"""The command `cdc sync`: all tables of a server, brought up to date."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hoodie.display import counted
from hoodie.errors import HoodieError
from hoodie.times import span
from hudi_services.cli.commands.cdc_declaration import declaration, pipeline_flag
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hudi_services.operations.inspect.page import Part
    from hudi_services.sources.cdc.mysql.server_sync import SyncResult, TableResult
    from hudi_services.sources.databases.plan_sync import PlannedSync

_EVERY = 10.0  # seconds
_LONGEST = 300.0  # seconds between tries of a server that does not answer


def _sync(
    server: str,
    registry: str | None,
    pipeline: str | None,
    resume: tuple[str, ...],
    start_fresh: bool,
    follow: bool,
    every: float,
    as_json: bool,
) -> int:
    if start_fresh and not resume:
        raise click.UsageError("--start-fresh reads all rows of the tables that --resume names: name some")
    if not follow:
        result = _declared(server, registry, pipeline).run(resume=resume, start_fresh=start_fresh)
        return _print_result(result, as_json=as_json)
    pause = every
    while True:
        begin = time.monotonic()
        try:
            result = _declared(server, registry, pipeline).run(resume=resume, start_fresh=start_fresh)
            for line in _news(result, as_json):
                echo(line)
            resume, start_fresh, pause = (), False, every
        except HoodieError as error:
            if not error.retryable:
                raise
            echo(f"tries again in {span(pause)}: {error}", err=True)
            pause = min(2 * pause, _LONGEST)
        time.sleep(max(0.0, pause - (time.monotonic() - begin)))


def _declared(server: str, registry: str | None, pipeline: str | None) -> PlannedSync:
    from hudi_services.registry.database_tables import registered_sync

    declared = declaration(server, registry, pipeline)
    return registered_sync(server, declared.reading, declared.environ)


def _print_result(result: SyncResult, *, as_json: bool) -> int:
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Listing, Page

    rows = [{"table": name, **_values(table)} for name, table in sorted(result.tables.items())]
    columns = (
        Column("table", "table"),
        Column("state", "state"),
        Column("rows", "rows", right=True),
        Column("changes", "changes", right=True),
        Column("commits", "commits", right=True),
    )
    parts: list[Part] = [Listing(columns, rows, f"cut {result.cut} at {result.position}")]
    problems = tables_behind(rows, parts)
    values = {"cut": result.cut, "position": result.position, "tables": rows}
    return print_page(Page(values, parts, problems), as_json=as_json)


def tables_behind(rows: Sequence[Mapping[str, Any]], parts: list[Part]) -> list[str]:
    """Add a part on the tables that are behind, if there are any, and return its lines."""
    from hudi_services.operations.inspect.page import Lines

    lines = [f"{row['table']} is {row['state']}: {row['reason']}. {row['fix']}" for row in rows if row["reason"]]
    if lines:
        parts.append(Lines(lines, "tables that are behind", alarming=True))
    return lines


def _news(result: SyncResult, as_json: bool) -> Iterator[str]:
    """Lines for tables that this run changed or left behind."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for name, table in sorted(result.tables.items()):
        if not table.load.commits and not table.reason:
            continue
        if as_json:
            yield json.dumps({"time": now, "table": name, "cut": result.cut, **_values(table)})
        else:
            reason = f"{table.state}: {table.reason}. {table.fix}" if table.reason else f"up to {result.position}"
            loaded = f"{counted(table.load.rows, 'row')}, " if table.load.rows else ""
            yield f"{now}  {name}  {loaded}{counted(table.load.changes, 'change')}, {reason}"


def _values(table: TableResult) -> dict[str, Any]:
    return {"state": table.state, **asdict(table.load), "reason": table.reason, "fix": table.fix}


sync = click.Command(
    "sync",
    callback=_sync,
    params=[
        click.Argument(["server"]),
        registry_flag(),
        pipeline_flag(),
        click.Option(
            ["--resume"],
            multiple=True,
            metavar="DATABASE.TABLE",
            help="Try this parked table again. Can be repeated.",
        ),
        click.Option(["--start-fresh"], is_flag=True, help="With --resume: take all rows of the table again."),
        click.Option(["--follow", "-f"], is_flag=True, help="Go on with new changes. Ctrl-C ends it."),
        click.Option(
            ["--every"],
            type=click.FloatRange(min=0.1),
            default=_EVERY,
            show_default=True,
            metavar="SECONDS",
            help="With --follow: the time between the begins of two runs.",
        ),
        json_flag("Print the result as JSON, with --follow a line for each table that changed."),
        wide_flag(),
        verbose_flag(),
    ],
    help="Bring all tables that the registry loads from a server up to date: new ones by a snapshot, then all by one pass over "
    "the server's log. A table that fails is parked with its reason, the others go on.\n\nExit code 1: a table is behind.",
    epilog=with_examples(
        (
            "hudi-services cdc sync shop --registry tables.yaml",
            "hudi-services cdc sync shop --pipeline mysql-to-hudi.yaml",
            "hudi-services cdc sync shop --follow --every 5",
            "hudi-services cdc sync shop --resume shop.orders --start-fresh",
        )
    ),
    context_settings=CONTEXT,
)
