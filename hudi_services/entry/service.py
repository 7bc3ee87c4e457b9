"""One declaration of a service, from which its command, registry section, form, Spark application and DAG derive.

Importing an entry is cheap, as Airflow parses DAG files all the time. Modules that load Arrow or Spark are imported by the
functions that it names, when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import click

from hoodie.config import laid_over, select_keys
from hoodie.config.groups import OptionGroup
from hoodie.config.key import ConfigKey
from hoodie.errors import HoodieError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import Arguments, Field, Outlook, RunRequest, Step, Trigger
from hudi_services.entry.table import Engine, ServiceSection, SparkSection, Table

S = TypeVar("S", bound=ServiceSection)
KeyPath = tuple[str, ...]
"""Keys of a table's entry in the registry, one inside the other."""


@dataclass(frozen=True, eq=False)
class Command:
    """The subcommand of a service, and its Spark application.

    `task` gets the call and the values of `flags` by name, and raises ConfigError for flags that contradict each other: nothing
    was opened yet. `application` is the file in spark_apps/; None for a service that never runs on Spark. `examples` are lines
    as they are typed. A command that is not `typed` is for Airflow only: at a shell, other commands ask for and show the same
    things. A service that `mends` a table runs while the table is paused, too.
    """

    help: str
    task: Callable[..., Task]
    flags: tuple[click.Option, ...] = ()
    application: str | None = None
    examples: tuple[str, ...] = ()
    typed: bool = True
    mends: bool = False

    def called(self, call: Call, arguments: Sequence[str]) -> Task:
        """The task of a call with `arguments`, which are for the flags. Raises ConfigError, or click.UsageError for bad ones."""
        parsed = click.Command(None, params=list(self.flags)).make_context(None, list(arguments))
        return self.task(call, **parsed.params)

    def outlook(self, base_path: str, arguments: Arguments) -> Outlook:
        """Explain a call in this process, so that a run without work ends before another one starts.

        If the source cannot be seen from here, the run itself has to look.
        """
        from hoodie.engine import LocalEngine  # loads Arrow

        try:
            decision = self.called(Call(base_path, arguments.options), arguments.flags).explain(LocalEngine())
        except (HoodieError, OSError, ImportError) as error:
            return Outlook(True, f"the source could not be looked at here: {error}")
        return Outlook(decision.plan is not None, decision.reason)


@dataclass(frozen=True, eq=False)
class Section(Generic[S]):
    """The section of a service in a table's entry of the registry.

    `options` are what its part `hoodie` takes, and say what is refused there; where it takes others than all of these, `only`
    has them. `replaced` names options that have a key of their own in the registry, and that key: said twice, the two could
    contradict each other. `places` are the keys that hold a path, an address or a secret, in which `${NAME}` is an
    environment variable; `secrets` are never shown. `tables` are keys that name another table of the registry, each with the
    key that takes its base path. `contradictions` yields what cannot be with the rest of the table's entry, `warnings` what
    can be and is hardly meant. With `always` a table without the section has the defaults.
    """

    kind: type[S]
    options: tuple[OptionGroup, ...]
    only: tuple[ConfigKey[Any], ...] = ()
    always: bool = True
    replaced: Mapping[ConfigKey[Any], str] = field(default_factory=dict)
    places: tuple[KeyPath, ...] = ()
    secrets: tuple[ConfigKey[Any], ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    contradictions: Callable[[Table, S], Iterator[tuple[KeyPath, str]]] = lambda _table, _section: iter(())
    warnings: Callable[[Table], Iterator[str]] = lambda _table: iter(())

    @property
    def keys(self) -> tuple[ConfigKey[Any], ...]:
        """The options that its part `hoodie` takes."""
        return self.only or tuple(key for group in self.options for key in group.keys)


@dataclass(frozen=True, eq=False)
class Dag(Generic[S]):
    """The DAG of a service, for each table that has the section and for which `applies` holds.

    Its `steps` follow each other. `arguments` returns the arguments of a step's service, and raises HoodieError or ValueError
    for an impossible request. `once` marks a service that is requested only once. `notes` are lines of its documentation. Its
    asset is the table itself if the service changes rows (`changes_rows`), and `<table>/<service>` if not.
    """

    steps: Callable[[Table, S], tuple[Step, ...]]
    arguments: Callable[[Table, S, RunRequest], Arguments]
    trigger: Callable[[Table, S], Trigger] = lambda _table, _section: Trigger()
    form: Callable[[Table], tuple[Field, ...]] = lambda _table: ()
    applies: Callable[[Table], bool] = lambda _table: True
    notes: Callable[[Table], Sequence[str]] = lambda _table: ()
    changes_rows: bool = False
    once: bool = False


@dataclass(frozen=True, eq=False)
class ServiceEntry(Generic[S]):
    """A service of the platform. `name` is its subcommand, its section in the registry and part of the id of its DAGs."""

    name: str
    command: Command
    section: Section[S]
    dag: Dag[S]

    def section_of(self, table: Table) -> S | None:
        """The service's section in the entry of a table; None if the entry lacks it and there are no defaults."""
        result: S | None = table.section(self.name)
        return result

    def engine_of(self, table: Table) -> Engine:
        """The engine that runs this service of the table: local, spark, or auto."""
        section = self.section_of(table)
        return (section.engine if isinstance(section, SparkSection) else None) or table.engine

    def has_dag(self, table: Table) -> bool:
        return self.section_of(table) is not None and self.dag.applies(table)

    def called_with(self, table: Table, request: RunRequest) -> Arguments:
        """Flags and options for a run. Raises HoodieError or ValueError for what cannot be asked for."""
        section = self.section_of(table)
        assert section is not None, "a DAG is made only for what the registry has"
        arguments = self.dag.arguments(table, section, request)
        common = select_keys(table.common, self.section.keys)
        return replace(arguments, options=laid_over(arguments.options, common))
