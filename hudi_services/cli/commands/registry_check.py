"""The command `registry check`: what a registry declares, and every mistake in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any

import click

from hoodie.display import counted
from hoodie.errors import HoodieError
from hoodie.model.place import is_local
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, with_examples
from hudi_services.entry.alert_rules import told_of, warnings
from hudi_services.entry.alerts import Alerts
from hudi_services.entry.dag import dag_id
from hudi_services.entry.doctor import DOCTOR_DAG
from hudi_services.entry.judge import JUDGE_DAG
from hudi_services.entry.rounds import Rounds
from hudi_services.entry.schedule_text import When, services_of
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.mistakes import Mistake, lines_of
from hudi_services.runtime.terminal import echo
from hudi_services.services.entries import ENTRIES, Entries, entry_named

_MISTAKES = 1  # the exit code


@dataclass(frozen=True)
class ServiceLine:
    """A service of a table: its DAG, and what starts a run by itself: cron in UTC, or changes by other services.

    `runs` is that in words; `never` is why it does not run by itself, None when it does or need not.
    """

    service: str
    dag: str
    schedule: str | None
    after: Sequence[str]
    first_day: str
    last_day: str | None
    runs: str
    never: str | None


@dataclass(frozen=True)
class TableLine:
    """A table without mistakes. `warnings` are of what can be and is hardly meant."""

    name: str
    base_path: str
    type: str
    version: int
    source: str | None
    services: Sequence[ServiceLine]
    warnings: Sequence[str]


@dataclass(frozen=True)
class RoundsLine:
    """Rounds of the doctor or the judge: their DAG, and when they begin (cron in UTC; None: by hand)."""

    dag: str
    schedule: str | None


@dataclass(frozen=True)
class AlertsLine:
    """The names of the hooks, of what they report (keys of the section, and `deadline`), and what is hardly meant."""

    hooks: Sequence[str]
    of: Sequence[str]
    warnings: Sequence[str]


@dataclass(frozen=True)
class Checked:
    """A registry as it was read."""

    file: str
    tables: Sequence[TableLine]
    pools: Mapping[str, int]
    doctor: RoundsLine | None
    judge: RoundsLine | None
    alerts: AlertsLine | None
    mistakes: Sequence[Mistake]


def checked(file: str, today: date, entries: Entries = ENTRIES) -> Checked:
    """Reads a registry file, which may have mistakes, or be none."""
    reading = read_registry(file, entries=entries)
    tables = [_line(table, today, entries) for table in reading.registry.tables]
    registry = reading.registry
    doctor, judge = _rounds(DOCTOR_DAG, registry.doctor), _rounds(JUDGE_DAG, registry.judge)
    alerts = _alerts(registry.alerts, registry.tables) if registry.alerts is not None else None
    return Checked(file, tables, registry.pools, doctor, judge, alerts, reading.mistakes)


def _alerts(alerts: Alerts, tables: Sequence[Table]) -> AlertsLine:
    return AlertsLine([hook.name for hook in alerts.hooks], told_of(alerts, tables), list(warnings(alerts, tables)))


def _rounds(dag: str, rounds: Rounds | None) -> RoundsLine | None:
    return RoundsLine(dag, rounds.schedule) if rounds is not None else None


def check_command(entries: Entries = ENTRIES) -> click.Group:
    """The command `registry`."""

    def check(file: str | None, registry: str | None, as_json: bool) -> int:
        if file is not None and registry is not None:
            raise click.UsageError("Two registries are named: leave FILE or --registry out.")
        named = file if file is not None else str(registry_file(registry))
        result = checked(named, datetime.now(UTC).date(), entries)
        echo(json.dumps(asdict(result), indent=2) if as_json else "\n".join(_text(result)))
        return _MISTAKES if result.mistakes else 0

    group = click.Group("registry", help="The registry of tables.", context_settings=CONTEXT)
    group.add_command(
        click.Command(
            "check",
            callback=check,
            params=[click.Argument(["file"], required=False), registry_flag(), json_flag(), verbose_flag()],
            help="Print what a registry declares, and every mistake in it with its line and key. FILE is "
            "that of --registry when it is left out.\n\nExit code 1: there are mistakes.",
            epilog=with_examples(("hudi-services registry check", "hudi-services registry check my.yaml --json")),
            context_settings=CONTEXT,
        )
    )
    return group


def _line(table: Table, today: date, entries: Entries) -> TableLine:
    return TableLine(
        table.name,
        table.base_path,
        table.type,
        table.version,
        table.source.shown if table.source is not None else None,
        [_service(table, when, entry_named(when.service, entries)) for when in services_of(table, entries, today)],
        [
            *(warning for entry in entries for warning in entry.section.warnings(table)),
            *_contradictions(table),
            *_idle_patterns(table),
        ],
    )


def _contradictions(table: Table) -> list[str]:
    """The keys of an entry that differ from its table on this machine, in words. A check waits for no other storage."""
    if not table.filled_here or not is_local(table.base_path):
        return []
    from hoodie.index.properties_match import FOREIGN_FIX, properties_mismatch  # they load Arrow
    from hudi_services.entry.table_choice import ChosenTable
    from hudi_services.entry.table_contradictions import entry_contradictions
    from hudi_services.entry.target import Target
    from hudi_services.operations.inspect.table_look import look_at

    try:
        look = look_at(ChosenTable(table.base_path))
        wrong = list(map(str, entry_contradictions(table, look.state)))
        if wrong and properties_mismatch(look.state, look.view.slices) is not None:
            target = Target.of(table.base_path, table.name)
            fix = target.with_commands(FOREIGN_FIX)
            return [f"hoodie.properties of the table are not those of its files, so loads are refused: {fix}"]
        return wrong
    except (HoodieError, OSError):  # no table yet, or one of which `advise` says what is wrong
        return []


def _idle_patterns(table: Table) -> Sequence[str]:
    """Patterns of a source on this machine that match nothing, in words."""
    if table.folder is None or not is_local(table.folder.path):
        return ()
    from hudi_services.operations.advice.source_files import patterns_without_files  # it loads Arrow

    try:
        return patterns_without_files(table)
    except (HoodieError, OSError):  # the load says what is wrong with the folder
        return ()


def _service(table: Table, when: When, entry: ServiceEntry[Any]) -> ServiceLine:
    section = entry.section_of(table)
    assert section is not None, "the table has the service"
    trigger = entry.dag.trigger(table, section)
    return ServiceLine(
        entry.name,
        dag_id(entry.name, table.name),
        trigger.cron,
        trigger.after,
        trigger.start.isoformat(),
        trigger.end.isoformat() if trigger.end is not None else None,
        when.runs,
        when.never,
    )


def _text(reading: Checked) -> list[str]:
    lines = []
    for table in reading.tables:
        lines.append(f"{table.name}  {table.type}, version {table.version}, at {table.base_path}")
        lines += [f"  source    {table.source}"] if table.source is not None else []
        lines += [
            f"  {service.service:<9} {service.runs}{f': {service.never}' if service.never else ''}"
            for service in table.services
        ]
        lines += [f"  WARNING   {warning}" for warning in table.warnings]
    lines += [f"pool {name}  {counted(slots, 'slot')}" for name, slots in reading.pools.items()]
    for round_name, rounds in (("doctor of all tables", reading.doctor), ("judge of objectives", reading.judge)):
        if rounds is not None:
            lines.append(f"{round_name}  {f'cron {rounds.schedule}' if rounds.schedule else 'by hand'}")
    if reading.alerts is not None:
        lines += [f"alerts  {', '.join(reading.alerts.hooks)}: {', '.join(reading.alerts.of) or 'nothing'}"]
        lines += [f"  WARNING   {warning}" for warning in reading.alerts.warnings]
    mistakes = lines_of(reading.mistakes)
    lines += mistakes
    counts = [
        counted(number, noun) if number else f"no {noun}s"
        for number, noun in ((len(reading.tables), "table"), (len(mistakes), "mistake"))
    ]
    return [*lines, f"{reading.file}: {', '.join(counts)}"]
