"""Flags and options of a service's command from the registry's entry of its table: the ones that the table's DAG
passes, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from hoodie.config.key import PlacedText
from hoodie.errors import ConfigError, HoodieError, TableNotFoundError
from hudi_services.entry.dag import OPERATION, RunRequest, WhenOn
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import SparkSection, Table
from hudi_services.entry.table_choice import ChosenTable

_PROPOSED = frozenset({"cluster", "archive"})
"""Services that advice and the doctor propose for any table. They move rows or instants, and delete none."""


@dataclass(frozen=True)
class Registered:
    """Values of the command's own flags by parameter name, as they would be typed, and `hoodie.*` options."""

    flags: Mapping[str, Any]
    options: Mapping[str, str]


def registered(entry: ServiceEntry[Any], table: Table, typed: Mapping[str, Any]) -> Registered:
    """Return what the registry calls the service with; `typed` are the flags from the command line, by parameter name.

    A flag that is a field of the DAG's form, such as the first date to load, counts like a value of the form. Raises
    ConfigError or RegistryError for a service that the table does not have, and for what cannot be asked for.
    """
    table = _with_defaults(entry, table)
    if entry.section_of(table) is None:
        raise ConfigError(
            f"Table {table.name} has no {entry.name}", fix=f"give its entry in the registry a section `{entry.name}`"
        )
    fields = {f"--{field.name}": field.name for field in entry.dag.form(table) if field is not OPERATION}
    params = {
        fields[name]: typed[flag.name]
        for flag in entry.command.flags
        for name in flag.opts
        if name in fields and flag.name in typed
    }
    try:
        arguments = entry.called_with(table, RunRequest(params=params))
    except ValueError as error:
        if isinstance(error, HoodieError):
            raise
        raise ConfigError(f"The {entry.name} of table {table.name} cannot be asked for", found=str(error)) from error
    command = click.Command(entry.name, params=list(entry.command.flags))
    flags, _, _ = command.make_parser(click.Context(command)).parse_args(list(arguments.flags))
    place = f"the registry's table {table.name}"
    return Registered(flags, {name: PlacedText(value, place) for name, value in arguments.options.items()})


def _with_defaults(entry: ServiceEntry[Any], table: Table) -> Table:
    """The table with the defaults of a service that advice proposes. Its entry has a section only for a DAG of the service."""
    if entry.section_of(table) is not None or entry.name not in _PROPOSED:
        return table
    return table.model_copy(update={entry.name: entry.section.kind()})


def spark_settings(entry: ServiceEntry[Any], table: Table | None) -> Mapping[str, str]:
    """The registry's settings of the service's Spark application; empty for a table that no registry named."""
    section = entry.section_of(table) if table is not None else None
    return section.spark if isinstance(section, SparkSection) else {}


def check_begun(entry: ServiceEntry[Any], table: Table) -> None:
    """Raises ConfigError when the service waits for another one that makes the table, and the table is not there yet.

    In Airflow a switch holds the DAG back until then.
    """
    table = _with_defaults(entry, table)
    if not any(isinstance(step, WhenOn) for step in entry.dag.steps(table, entry.section_of(table))):
        return
    from hoodie.table import HoodieTable  # loads Arrow

    try:
        commits = len(HoodieTable.open(table.base_path).timeline.commits)
    except TableNotFoundError:
        commits = 0
    if not commits:
        raise ConfigError(
            f"Table {table.name} is to be made of a plain table first, and is not there yet",
            found=f"no commits at {table.base_path}",
            fix=f"run `hudi-services bootstrap --table {table.name}`, or take `bootstrap` out of its entry",
        )


def check_running(entry: ServiceEntry[Any], chosen: ChosenTable) -> None:
    """Raises TablePausedError while the services of the table are paused."""
    from hoodie.clock import SystemClock
    from hoodie.storage import open_storage  # loads Arrow
    from hudi_services.runtime.pause import refuse_paused

    name = chosen.entry.name if chosen.entry is not None else chosen.base_path
    refuse_paused(open_storage(chosen.base_path), SystemClock(), name, entry.name)
