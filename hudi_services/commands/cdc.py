"""The commands of `cdc`: databases as sources of tables."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

import click

from hoodie.display import counted
from hudi_services.commandline.flags import CONTEXT, json_flag, registry_flag, verbose_flag, with_examples
from hudi_services.commandline.properties import merged_options
from hudi_services.commands.cdc_sync import status, sync
from hudi_services.databases.server import database_server
from hudi_services.entry.server import DatabaseServer
from hudi_services.entry.source import StatementPolicies
from hudi_services.registry.find import registry_file
from hudi_services.registry.load import read_registry
from hudi_services.terminal import echo

if TYPE_CHECKING:
    from hudi_services.cdc.mysql.binlog.decoding import ZeroDates

_POLICIES = {
    "truncate": "At TRUNCATE of the table: take all rows out of the Hudi table (apply), keep them (ignore), or stop.",
    "drop": "At DROP of the table or its database: take all rows out, or read those of the table that has its name now (apply), "
    "keep them (ignore), or stop.",
    "rename": "At a RENAME that gives its name to another table, as gh-ost and pt-online-schema-change do: read all rows again "
    "(apply), or stop.",
    "alter": "At an ALTER TABLE that changes rows without logging them: read all rows again (apply), or stop.",
}
_MARKS = {"ok": "ok", "warning": "warning", "missing": "MISSING"}


def _check(server: str, registry: str | None, as_json: bool) -> int:
    from hoodie.clock import SystemClock
    from hudi_services.cdc.credentials import credentials
    from hudi_services.cdc.mysql.connection import connected
    from hudi_services.cdc.mysql.facts import server_facts
    from hudi_services.cdc.mysql.preflight import requirements
    from hudi_services.show.page import Column, Lines, Listing, Page, Part
    from hudi_services.show.render import print_page

    declared = _server(server, registry)
    user = credentials(declared.connection, os.environ).user
    with connected(server, declared, os.environ) as connection:
        facts = server_facts(connection, declared.databases, SystemClock())
    checked = list(requirements(declared, user, facts))
    rows = [asdict(requirement) for requirement in checked]
    missing = [requirement.name for requirement in checked if requirement.state == "missing"]
    fixes = [f"{requirement.name}: {requirement.fix}" for requirement in checked if requirement.state != "ok"]
    columns = (Column("state", "", _MARKS.__getitem__), Column("name", "requirement"), Column("found", "found"))
    parts: list[Part] = [Listing(columns, rows, f"{server}, {facts.variables.get('version', '')}")]
    if fixes:
        parts.append(Lines(fixes, "what fixes it", alarming=bool(missing)))
    return print_page(Page({"server": server, "requirements": rows}, parts, missing), as_json=as_json)


def _load(
    server: str,
    table: str,
    target_base_path: str,
    registry: str | None,
    props: str | None,
    conf: tuple[str, ...],
    start_fresh: bool,
    ignore_cascades: bool,
    zero_dates: ZeroDates,
    as_text: tuple[str, ...],
    sessions: int,
    as_json: bool,
    **statements: str,
) -> None:
    from hoodie.engine import LocalEngine
    from hudi_services.cdc.mysql.binlog.decoding import Choices
    from hudi_services.cdc.mysql.table_load import TableLoad
    from hudi_services.cdc.mysql.table_source import TableSource
    from hudi_services.cdc.mysql.target_table import TargetTable

    database, dot, name = table.partition(".")
    if not (database and dot and name):
        raise click.UsageError(f"{table!r:.100} is no table of a server: write DATABASE.TABLE, such as shop.orders.")
    options = merged_options(props, conf)
    declared = _server(server, registry)
    policies = StatementPolicies.model_validate({kind.removeprefix("on_"): what for kind, what in statements.items()})
    choices = Choices(zero_dates, frozenset(as_text))
    source = TableSource(server, database, name, ignore_cascades, choices, policies)
    target = TargetTable(source, target_base_path, options, LocalEngine())
    load = TableLoad(declared, os.environ, target, sessions=sessions, report=lambda line: echo(line, err=True))
    result = load.run(start_fresh=start_fresh)
    if as_json:
        echo(json.dumps(asdict(result), indent=2))
    elif result.commits:
        rows = f"{counted(result.rows, 'row')} of a snapshot, " if result.rows else ""
        echo(
            f"{rows}{counted(result.changes, 'change')} in {counted(result.commits, 'commit')}, up to {result.position}"
        )
    else:
        echo("nothing to do: no changes since the last run")
    if result.catching_up and not as_json:
        echo(f"catching up to {result.catching_up}: until then the rows are of several moments")


def _tail(
    server: str, registry: str | None, tables: tuple[str, ...], since: str | None, follow: bool, as_json: bool
) -> None:
    from hudi_services.cdc.mysql import tail

    if since is None and not follow:
        raise click.UsageError(
            "There is nothing to print: say where to begin by --since, or wait for changes by --follow."
        )
    line = tail.as_json if as_json else tail.as_text
    for values in tail.tailed(server, _server(server, registry), os.environ, tables, since, follow=follow):
        echo(line(values))


def _server(name: str, registry: str | None) -> DatabaseServer:
    return database_server(name, read_registry(registry_file(registry)))


def _policy_flags() -> list[click.Option]:
    fields = StatementPolicies.model_fields.items()
    return [
        click.Option(
            [f"--on-{kind}"],
            type=click.Choice(get_args(field.annotation)),
            default=field.default,
            show_default=True,
            help=_POLICIES[kind],
        )
        for kind, field in fields
    ]


cdc = click.Group(
    "cdc",
    help="Databases whose tables become tables of the lake.",
    context_settings=CONTEXT,
    commands=[
        sync,
        status,
        click.Command(
            "check",
            callback=_check,
            params=[click.Argument(["server"]), registry_flag(), json_flag(), verbose_flag()],
            help="Check whether the changes of a database server can be read. Lists each requirement, what the server has, "
            "and the statement that fixes it. It changes nothing.\n\nExit code 1: a requirement is missing.",
            epilog=with_examples(("hudi-services cdc check shop --registry tables.yaml",)),
            context_settings=CONTEXT,
        ),
        click.Command(
            "load",
            callback=_load,
            params=[
                click.Argument(["server"]),
                click.Argument(["table"], metavar="DATABASE.TABLE"),
                click.Option(
                    ["--target-base-path"], required=True, metavar="PATH", help="Path or URL of the Hudi table."
                ),
                registry_flag(),
                click.Option(["--props"], metavar="FILE", help="Options, as a properties file."),
                click.Option(
                    ["--hoodie-conf", "conf"], multiple=True, metavar="KEY=VALUE", help="One option. Repeatable."
                ),
                click.Option(
                    ["--start-fresh"], is_flag=True, help="Take all rows again, in place of those in the table."
                ),
                click.Option(
                    ["--ignore-cascades"],
                    is_flag=True,
                    help="Load a table whose rows foreign keys change (CASCADE, SET NULL). The log does not have these changes.",
                ),
                click.Option(
                    ["--zero-dates"],
                    type=click.Choice(["null", "text", "fail"]),
                    default="null",
                    show_default=True,
                    help="Dates that no calendar has, such as 0000-00-00: they become null, or all columns with dates are text, "
                    "or the load fails. Say the same in each run.",
                ),
                click.Option(
                    ["--as-text"],
                    multiple=True,
                    metavar="COLUMN",
                    help="Read this column of bytes as hexadecimal digits, or this column of dates as text, so that it can be a "
                    "part of the key. Repeatable. Say the same in each run.",
                ),
                click.Option(
                    ["--sessions"],
                    type=click.IntRange(1, 64),
                    default=4,
                    show_default=True,
                    help="Connections that read a table of many rows side by side.",
                ),
                *_policy_flags(),
                json_flag(),
                verbose_flag(),
            ],
            help="Load a table of a server: all its rows in the first run, then the changes since, up to the end of the binlog. "
            "Each commit holds its position, so every change is applied once. The Hudi table is created when it is not there.",
            epilog=with_examples(
                ("hudi-services cdc load shop shop.orders --target-base-path /lake/orders --registry tables.yaml",)
            ),
            context_settings=CONTEXT,
        ),
        click.Command(
            "tail",
            callback=_tail,
            params=[
                click.Argument(["server"]),
                registry_flag(),
                click.Option(
                    ["--table", "tables"],
                    multiple=True,
                    metavar="DATABASE.TABLE",
                    help="Only of this table. Can be repeated.",
                ),
                click.Option(
                    ["--since"], metavar="FILE:OFFSET", help="Begin at this place of the binlog. [default: its end]"
                ),
                click.Option(["--follow", "-f"], is_flag=True, help="Wait for more. Ctrl-C ends it."),
                json_flag("Print each change as a line of JSON."),
                verbose_flag(),
            ],
            help="Print the changes that a server logs, a line for each row, with the row before and after. Use it to see "
            "what a source sends. It changes nothing.",
            epilog=with_examples(
                (
                    "hudi-services cdc tail shop --follow",
                    "hudi-services cdc tail shop --table shop.orders --since mysql-bin.000001:4",
                )
            ),
            context_settings=CONTEXT,
        ),
    ],
)
