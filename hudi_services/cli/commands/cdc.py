"""The commands of `cdc`: databases as sources of tables."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from hudi_services.cli.commands.cdc_cuts import cuts
from hudi_services.cli.commands.cdc_plan import plan
from hudi_services.cli.commands.cdc_status import status
from hudi_services.cli.commands.cdc_sync import sync
from hudi_services.cli.commands.cdc_table import load, resync, verify
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.database_server import database_server
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.terminal import echo

_MARKS = {"ok": "ok", "warning": "warning", "missing": "MISSING"}


def _check(server: str, registry: str | None, as_json: bool) -> int:
    from hoodie.clock import SystemClock
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Lines, Listing, Page, Part
    from hudi_services.sources.cdc.credentials import credentials
    from hudi_services.sources.cdc.mysql.connection import connected
    from hudi_services.sources.cdc.mysql.facts import server_facts
    from hudi_services.sources.cdc.mysql.preflight import requirements

    declared = _server(server, registry)
    user = credentials(declared.connection, os.environ).user
    with connected(server, declared, os.environ) as connection:
        facts = server_facts(connection, declared.databases, SystemClock())
    checked = list(requirements(declared, user, facts))
    rows = [asdict(requirement) for requirement in checked]
    missing = [requirement.name for requirement in checked if requirement.state == "missing"]
    fixes = [f"{requirement.name}: {requirement.fix}" for requirement in checked if requirement.state != "ok"]
    columns = (
        Column("state", "", _MARKS.__getitem__),
        Column("name", "requirement", rank=0),
        Column("found", "found", rank=0, wraps=True),
    )
    parts: list[Part] = [Listing(columns, rows, f"{server}, {facts.variables.get('version', '')}")]
    if fixes:
        parts.append(Lines(fixes, "what fixes it", alarming=bool(missing)))
    return print_page(Page({"server": server, "requirements": rows}, parts, missing), as_json=as_json)


def _tail(
    server: str, registry: str | None, tables: tuple[str, ...], since: str | None, follow: bool, as_json: bool
) -> None:
    from hudi_services.sources.cdc.mysql import tail

    if since is None and not follow:
        raise click.UsageError(
            "There is nothing to print: say where to begin by --since, or wait for changes by --follow."
        )
    line = tail.as_json if as_json else tail.as_text
    for values in tail.tailed(server, _server(server, registry), os.environ, tables, since, follow=follow):
        echo(line(values))


def _server(name: str, registry: str | None) -> DatabaseServer:
    return database_server(name, read_registry(registry_file(registry)))


cdc = click.Group(
    "cdc",
    help="Databases whose tables become tables of the lake.",
    context_settings=CONTEXT,
    commands=[
        plan,
        sync,
        status,
        cuts,
        click.Command(
            "check",
            callback=_check,
            params=[click.Argument(["server"]), registry_flag(), json_flag(), wide_flag(), verbose_flag()],
            help="Check whether the changes of a database server can be read. Lists each requirement, what the server has, "
            "and the statement that fixes it. It changes nothing.\n\nExit code 1: a requirement is missing.",
            epilog=with_examples(("hudi-services cdc check shop --registry tables.yaml",)),
            context_settings=CONTEXT,
        ),
        load,
        verify,
        resync,
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
