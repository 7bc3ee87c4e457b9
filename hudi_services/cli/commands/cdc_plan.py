"""The command `cdc plan`: which tables of a server go where, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from hoodie.errors import ConfigError
from hoodie.times import span
from hudi_services.cli.commands.cdc_declaration import declaration, pipeline_flag
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples
from hudi_services.operations.inspect.text import size
from hudi_services.registry.mistakes import as_error

_SHOWN = 200


def _plan(server: str, registry: str | None, pipeline: str | None, accept: bool, as_json: bool) -> int:
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Facts, Lines, Listing, Page, Part
    from hudi_services.registry.database_tables import registered_sync
    from hudi_services.sources.databases.plan_page import document, problems

    declared = declaration(server, registry, pipeline)
    sync = registered_sync(server, declared.reading, declared.environ, wrong_rules=True)
    current = sync.current(accept=accept, preflight=True)
    file, mistakes = (
        declared.reading.registry.file,
        [mistake for mistake in declared.reading.mistakes if mistake.table is None],
    )
    if current is None and mistakes:
        raise as_error(file, mistakes)
    if current is None:
        raise ConfigError(
            f"The registry {file} has no rule for tables of {server}",
            fix=f"write one below `databases`: {{server: {server}, database: NAME, base_path: /lake/{{table}}}}",
        )
    if accept:
        current.store(sync.plans)
    values, lines = document(current), [*map(str, mistakes), *problems(current)]
    rows = [
        {**route, "source": _sources(route["sources"]), "key": ", ".join(route["key"])} for route in values["routes"]
    ]
    columns = (
        Column("source", "table"),
        Column("base_path", "Hudi table", rank=2),
        Column("state", "state"),
        Column("key", "key"),
        Column("rows", "rows", right=True),
    )
    more = f"{len(rows) - _SHOWN:,} more tables: --json lists all" if len(rows) > _SHOWN else ""
    parts: list[Part] = [Listing(columns, rows[:_SHOWN], f"{server}: {len(rows):,} Hudi tables"), Facts(_facts(values))]
    if more:
        parts.insert(1, Lines([more]))
    if warnings := [
        f"{requirement['name']}: {requirement['found']}"
        for requirement in values["preflight"]
        if requirement["state"] == "warning"
    ]:
        parts.append(Lines(warnings, f"may surprise you: `hudi-services cdc check {server}` says what helps"))
    if values["warnings"]:
        parts.append(Lines(values["warnings"][:_SHOWN], "dropped columns that expressions read"))
    notes = [str(note) for note in declared.notes]
    if notes:
        parts.append(Lines(notes, "options without an effect"))
    if lines:
        parts.append(Lines(lines[:_SHOWN], "what the plan does not take", alarming=True))
    return print_page(Page({"server": server, **values, "without_effect": notes}, parts, lines), as_json=as_json)


def _sources(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"


def _facts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    estimate = values["estimate"]
    retention = estimate["retention_seconds"]
    return [
        ("to read", f"about {estimate['rows']:,} rows, {size(estimate['bytes'])} of {estimate['tables']:,} new tables"),
        ("takes about", span(estimate["seconds"])),
        ("the log is kept", f"for {span(retention)}" if retention else "for ever"),
        ("connections", f"{estimate['connections']} at most"),
    ]


plan = click.Command(
    "plan",
    callback=_plan,
    params=[
        click.Argument(["server"]),
        registry_flag(),
        pipeline_flag(),
        click.Option(
            ["--accept"],
            is_flag=True,
            help="Let tables that are loaded have another path than before, or no rule. The Hudi tables at the old paths stay as "
            "they are.",
        ),
        json_flag(),
        wide_flag(),
        verbose_flag(),
    ],
    help="Print which tables of a server go into which Hudi tables by the rules of the registry, which are refused and why, and "
    "what the first run has to read. It changes nothing, but for --accept.\n\nExit code 1: a table is refused, a rule takes no "
    "table, the server or a table lacks what `cdc check` asks for, or the server removes its log too early.",
    epilog=with_examples(
        (
            "hudi-services cdc plan shop --registry tables.yaml",
            "hudi-services cdc plan shop --pipeline mysql-to-hudi.yaml",
            "hudi-services cdc plan shop --accept",
        )
    ),
    context_settings=CONTEXT,
)
