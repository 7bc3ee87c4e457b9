"""The command `registry check`: what a registry declares, and every mistake in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from hudi_services.entries import ENTRIES, Entries
from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.flags import CONTEXT, json_flag, verbose_flag, with_examples
from hudi_services.registry.find import registry_file
from hudi_services.registry.load import read_registry
from hudi_services.registry.mistakes import Mistake

_MISTAKES = 1  # the exit code


@dataclass(frozen=True)
class ServiceLine:
    """A service of a table: its DAG, and what starts a run by itself: cron in UTC, changes by other services, or nothing."""

    service: str
    dag: str
    schedule: str | None
    after: Sequence[str]
    first_day: str
    last_day: str | None

    @property
    def when(self) -> str:
        by_itself = [f"cron {self.schedule}"] if self.schedule else []
        by_itself += [f"after {' or '.join(self.after)}"] if self.after else []
        return ", ".join(by_itself) or "only when it is asked for"


@dataclass(frozen=True)
class TableLine:
    """A table without mistakes."""

    name: str
    base_path: str
    type: str
    version: int
    source: str | None
    services: Sequence[ServiceLine]


@dataclass(frozen=True)
class Checked:
    """A registry as it was read."""

    file: str
    tables: Sequence[TableLine]
    pools: Mapping[str, int]
    mistakes: Sequence[Mistake]


def checked(file: str, entries: Entries = ENTRIES) -> Checked:
    """Reads a registry file, which may have mistakes, or be none."""
    reading = read_registry(file, entries=entries)
    tables = [_line(table, entries) for table in reading.registry.tables]
    return Checked(file, tables, reading.registry.pools, reading.mistakes)


def check_command(entries: Entries = ENTRIES) -> click.Group:
    """The command `registry`."""

    def check(file: str | None, as_json: bool) -> int:
        found = checked(str(file if file is not None else registry_file(None)), entries)
        click.echo(json.dumps(asdict(found), indent=2) if as_json else "\n".join(_text(found)))
        return _MISTAKES if found.mistakes else 0

    group = click.Group("registry", help="The registry of tables.", context_settings=CONTEXT)
    group.add_command(
        click.Command(
            "check",
            callback=check,
            params=[click.Argument(["file"], required=False), json_flag(), verbose_flag()],
            help="Print what a registry declares, and every mistake in it with its line and key. FILE is "
            "$HUDI_REGISTRY, or ./tables.yaml, when it is left out.\n\nExit code 1: there are mistakes.",
            epilog=with_examples(("hudi-services registry check", "hudi-services registry check my.yaml --json")),
            context_settings=CONTEXT,
        )
    )
    return group


def _line(table: Table, entries: Entries) -> TableLine:
    source = table.source
    return TableLine(
        table.name,
        table.base_path,
        table.type,
        table.version,
        f"{source.path} ({source.format})" if source is not None else None,
        [_service(table, entry) for entry in entries if entry.has_dag(table)],
    )


def _service(table: Table, entry: Any) -> ServiceLine:
    trigger = entry.dag.trigger(table, entry.section_of(table))
    return ServiceLine(
        entry.name,
        dag_id(entry.name, table.name),
        trigger.cron,
        trigger.after,
        trigger.start.isoformat(),
        trigger.end.isoformat() if trigger.end is not None else None,
    )


def _text(found: Checked) -> list[str]:
    lines = []
    for table in found.tables:
        lines.append(f"{table.name}  {table.type}, version {table.version}, at {table.base_path}")
        lines += [f"  source    {table.source}"] if table.source is not None else []
        lines += [f"  {service.service:<9} {service.when}" for service in table.services]
    lines += [f"pool {name}  {slots} slots" for name, slots in found.pools.items()]
    lines += [str(mistake) for mistake in found.mistakes]
    counts = [_count(len(found.tables), "table"), _count(len(found.mistakes), "mistake")]
    return [*lines, f"{found.file}: {', '.join(counts)}"]


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
