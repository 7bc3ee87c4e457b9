"""The commands `cdc load`, `cdc verify` and `cdc resync`: one table of a server and its Hudi table."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from hoodie.display import counted
from hudi_services.cli.flags import (
    CONTEXT,
    json_flag,
    option_flags,
    registry_flag,
    verbose_flag,
    wide_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.entry.source import StatementPolicies
from hudi_services.registry.database_server import database_server
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file, table_named
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hudi_services.sources.cdc.mysql.binlog.decoding import ZeroDates
    from hudi_services.sources.cdc.mysql.equality.report import EqualityReport, Example
    from hudi_services.sources.cdc.mysql.table_load import TableLoad
    from hudi_services.sources.databases.plan_sync import PlannedSync

_POLICIES = {
    "truncate": "At TRUNCATE of the table: take all rows out of the Hudi table (apply), keep them (ignore), or stop.",
    "drop": "At DROP of the table or its database: take all rows out, or read those of the table that has its name now (apply), "
    "keep them (ignore), or stop.",
    "rename": "At a RENAME that gives its name to another table, as gh-ost and pt-online-schema-change do: read all rows again "
    "(apply), or stop.",
    "alter": "At an ALTER TABLE that changes rows without logging them: read all rows again (apply), or stop.",
}
_MASKS = {
    "hash": "compared by their hashes",
    "mask": "compared after their mask",
    "drop": "not compared",
}
_KINDS = {
    "missing": "missing in the lake",
    "surplus": "not at the server",
    "changed": "other values",
    "copied": "more than once in the lake",
}


def _load(start_fresh: bool, sessions: int, as_json: bool, **table: Any) -> None:
    from hudi_services.runtime.pause import pause_errors

    load = replace(_table_load(**table), sessions=sessions, report=lambda line: echo(line, err=True))
    for error in pause_errors([load.target.base_path], "cdc load").values():
        raise error
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


def _verify(repair: bool, limit: int, values: bool, as_json: bool, **table: Any) -> int:
    from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
    from hudi_services.sources.databases.shard_verification import ShardVerification

    merged = _merged(**table)
    report = (
        ShardVerification(*merged, limit, values).verify(repair=repair)
        if merged is not None
        else EqualityCheck(_table_load(**table), limit, values).verify(repair=repair)
    )
    return _print(report, as_json=as_json)


def _merged(registered: str | None, registry: str | None, **flags: Any) -> tuple[PlannedSync, frozenset[str]] | None:
    """Tables that go into one Hudi table, with the runs of their server. None for another table."""
    if registered is None:
        return None
    from hudi_services.registry.database_tables import merged_tables

    _check_typed(flags)
    return merged_tables(registered, read_registry(registry_file(registry)), os.environ)


def _resync(limit: int, values: bool, as_json: bool, **table: Any) -> int:
    from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
    from hudi_services.sources.databases.shard_resync import ShardResync

    merged = _merged(**table)
    report = (
        ShardResync(*merged, limit, values).run()
        if merged is not None
        else EqualityCheck(_table_load(**table), limit, values).resync()
    )
    return _print(report, as_json=as_json)


def _table_load(registered: str | None, registry: str | None, **flags: Any) -> TableLoad:
    """The load of a table of the registry, or of the one that the command line says all of."""
    if registered is None:
        if not all(flags[name] for name in ("server", "table", "target_base_path")):
            raise click.UsageError(
                "Name a table of the registry by --table, or SERVER, DATABASE.TABLE and --target-base-path."
            )
        return _said_load(registry=registry, **flags)
    _check_typed(flags)
    from hudi_services.registry.database_tables import planned_load, registered_load

    file = registry_file(registry)
    reading = read_registry(file)
    load = planned_load(registered, reading, os.environ)
    return load if load is not None else registered_load(table_named(registered, file), reading, os.environ)


def _check_typed(flags: Collection[str]) -> None:
    """Refuse flags of the command line beside --table."""
    context = click.get_current_context()
    typed = [name for name in flags if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if typed:
        flag = next(parameter for parameter in context.command.params if parameter.name == typed[0])
        raise click.UsageError(f"{flag.opts[0]} contradicts --table: the registry says it.")


def _said_load(
    server: str,
    table: str,
    target_base_path: str,
    registry: str | None,
    props: str | None,
    conf: tuple[str, ...],
    ignore_cascades: bool,
    zero_dates: ZeroDates,
    as_text: tuple[str, ...],
    **statements: str,
) -> TableLoad:
    from hudi_services.sources.cdc.mysql.binlog.decoding import Choices
    from hudi_services.sources.cdc.mysql.table_load import TableLoad
    from hudi_services.sources.cdc.mysql.table_source import TableSource
    from hudi_services.sources.cdc.mysql.target_table import TargetTable, load_engine

    database, dot, name = table.partition(".")
    if not (database and dot and name):
        raise click.UsageError(f"{table!r:.100} is no table of a server: write DATABASE.TABLE, such as shop.orders.")
    options = merged_options(props, conf)
    declared = database_server(server, read_registry(registry_file(registry)))
    policies = StatementPolicies.model_validate(
        {kind.removeprefix("on_"): policy for kind, policy in statements.items()}
    )
    choices = Choices(zero_dates, frozenset(as_text))
    source = TableSource(server, database, name, ignore_cascades, choices, policies)
    return TableLoad(declared, os.environ, TargetTable(source, target_base_path, options, load_engine()))


def _print(report: EqualityReport, *, as_json: bool) -> int:
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Facts, Listing, Page, Part
    from hudi_services.sources.cdc.mysql.tail import as_json as plain

    counts = [f"{getattr(report, kind):,} {words}" for kind, words in _KINDS.items() if getattr(report, kind)]
    facts = [
        ("source", f"{report.source} at {report.position}"),
        ("commit", report.instant),
        ("rows", f"{report.rows:,} at the server, {report.lake_rows:,} in the lake"),
        ("one by one", f"{report.rows_read:,} of the server were read"),
        ("differences", ", ".join(counts) or "none"),
    ]
    facts += [
        (comparison, ", ".join(sorted(name for name, mask in report.masked.items() if mask == kind)))
        for kind, comparison in _MASKS.items()
        if kind in report.masked.values()
    ]
    if report.columns:
        facts.append(("columns", ", ".join(f"{name} ({count:,})" for name, count in report.columns.items())))
    if report.written:
        facts.append(("written", counted(report.written, "row")))
    verdict = "NOT EQUAL" if not report.is_equal else "repaired" if report.written and report.differing else "equal"
    if report.left and not report.others and (report.written or not report.differing):
        verdict = "NOT ALL COMPARED"
    parts: list[Part] = [Facts(facts, verdict)]
    if tables := [{"table": name, "note": note} for name, note in _tables(report)]:
        listed = Column("table", "table", rank=0), Column("note", "", wraps=True)
        parts.append(Listing(listed, tables, counted(len(report.tables), "compared table")))
    if report.examples:
        columns = (
            Column("kind", "", _KINDS.__getitem__),
            Column("key", "key", rank=0),
            Column("columns", "columns", wraps=True),
        )
        rows = [
            {"kind": example.kind, "key": plain(example.key), "columns": _columns(example)}
            for example in report.examples
        ]
        parts.append(Listing(columns, rows, f"{len(rows):,} of {report.differing:,} rows"))
    values = {**json.loads(plain(asdict(report))), "equal": report.is_equal}
    return print_page(Page(values, parts, [] if report.is_equal else [verdict]), as_json=as_json)


def _tables(report: EqualityReport) -> Iterator[tuple[str, str]]:
    """The tables of a Hudi table of several about which there is more to say than that they are equal."""
    for name, table in report.tables.items():
        texts = [f"{getattr(table, kind):,} {words}" for kind, words in _KINDS.items() if getattr(table, kind)]
        if texts or table.note:
            yield name, "; ".join([*texts, *([table.note] if table.note else [])])
    yield from ((name, f"not compared: {reason}") for name, reason in report.left.items())
    yield from (
        (name, f"{count:,} rows in the lake, and nothing loads it any more") for name, count in report.removed.items()
    )
    yield from ((name, f"{count:,} rows in the lake, and it was never loaded") for name, count in report.others.items())


def _columns(example: Example) -> str:
    """The columns that differ, with the values of the server and of the lake where the user asked for them."""
    from hudi_services.sources.cdc.mysql.tail import as_json as plain

    sides = [plain(values) for values in (example.server, example.lake) if values is not None]
    return " -> ".join(sides) or ", ".join(example.columns)


def _command(name: str, callback: Any, flags: Sequence[click.Parameter], help: str, *examples: str) -> click.Command:
    """A command of a table: the flags that say which one and how it is read, then its own."""
    return click.Command(
        name,
        callback=callback,
        params=[
            click.Argument(["server"], required=False),
            click.Argument(["table"], metavar="[DATABASE.TABLE]", required=False),
            click.Option(["--target-base-path"], metavar="PATH", help="Path or URL of the Hudi table."),
            click.Option(
                ["--table", "registered"],
                metavar="NAME",
                help="A table of the registry, which says all else of it: the name of its entry, or SERVER.DATABASE.TABLE "
                "where a rule takes it. `cdc verify` and `cdc resync` also take the path of a Hudi table of several tables.",
            ),
            registry_flag(),
            *option_flags(),
            *flags,
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
            json_flag(),
            wide_flag(),
            verbose_flag(),
        ],
        help=help,
        epilog=with_examples(examples),
        context_settings=CONTEXT,
    )


def _policy_flags() -> list[click.Parameter]:
    return [
        click.Option(
            [f"--on-{kind}"],
            type=click.Choice(get_args(field.annotation)),
            default=field.default,
            show_default=True,
            help=_POLICIES[kind],
        )
        for kind, field in StatementPolicies.model_fields.items()
    ]


def _listing_flags() -> list[click.Parameter]:
    return [
        click.Option(
            ["--limit"], type=click.IntRange(0), default=20, show_default=True, help="Rows that are listed at most."
        ),
        click.Option(["--values"], is_flag=True, help="Show the values that differ, not only their keys and columns."),
    ]


load = _command(
    "load",
    _load,
    [
        click.Option(["--start-fresh"], is_flag=True, help="Take all rows again, in place of those in the table."),
        click.Option(
            ["--sessions"],
            type=click.IntRange(1, 64),
            default=4,
            show_default=True,
            help="Connections that read a table of many rows side by side.",
        ),
        *_policy_flags(),
    ],
    "Load a table of a server: all its rows in the first run, then the changes since, up to the end of the binlog. "
    "Each commit holds its position, so every change is applied once. The Hudi table is created when it is not there.",
    "hudi-services cdc load --table orders",
    "hudi-services cdc load shop shop.orders --target-base-path /lake/orders --registry tables.yaml",
)
verify = _command(
    "verify",
    _verify,
    [
        click.Option(["--repair"], is_flag=True, help="Write the rows that differ, as they are at the server."),
        *_listing_flags(),
        *_policy_flags(),
    ],
    "Check whether a loaded table has the rows of the server. Applies the changes up to this moment first, then compares "
    "checksums, and rows one by one where these differ.\n\nExit code 1: rows differ, and were not repaired.",
    "hudi-services cdc verify --table orders",
    "hudi-services cdc verify shop shop.orders --target-base-path /lake/orders",
    "hudi-services cdc verify shop shop.orders --target-base-path /lake/orders --repair",
)
resync = _command(
    "resync",
    _resync,
    _listing_flags(),
    "Compare all rows of a loaded table with the server, and write those that differ, in one commit. It does not read the log, "
    "so it also works where a load cannot go on: after a purge, TRUNCATE, or an ALTER TABLE that changes values.",
    "hudi-services cdc resync --table orders",
    "hudi-services cdc resync --table shop.benchmark2.sbtest7",
    "hudi-services cdc resync shop shop.orders --target-base-path /lake/orders",
)
