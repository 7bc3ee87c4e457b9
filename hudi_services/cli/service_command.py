"""A service as a subcommand: the flags that all share, its own, and what is printed."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from hoodie.config import laid_over
from hoodie.errors import ConfigError
from hudi_services.cli.flags import (
    CONTEXT,
    VERBOSE,
    chosen_table,
    json_flag,
    option_flags,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.cli.json_logs import SERVICE, TABLE, log_done, log_fields
from hudi_services.cli.output_lines import logs_told, say, say_progress
from hudi_services.cli.process_context import ALONE, Surroundings
from hudi_services.cli.properties import merged_options
from hudi_services.cli.registry_options import check_begun, check_running, registered, spark_settings
from hudi_services.cli.spark_session import spark_session
from hudi_services.entry.call import Call, Task
from hudi_services.entry.preconditions import awaits_load
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.size_estimate import AUTO, ENGINES, LOCAL, SPARK, UP_TO, engine_for
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.history.flag import RECORDED, recorded_of, recorded_table
from hudi_services.runtime.progress import progress_shown
from hudi_services.runtime.progress_file import PROGRESS_PATH, ProgressFile
from hudi_services.runtime.result import DONE, WANTS_SPARK, Explained, ServiceResult, finish, reported, write_report
from hudi_services.runtime.sizes import bytes_of
from hudi_services.runtime.terminal import echo
from hudi_services.services.entries import ENTRIES, Entries

if TYPE_CHECKING:  # it loads Arrow, which help and completion do without
    from hoodie.engine import Engine, Progress
    from hudi_services.operations.history.recording import OnSpark

_TABLE, _REGISTERED = "hudi_services.table", "hudi_services.options"  # keys of a context's notes


class ServiceCommand(click.Command):
    """The subcommand of a service. With `--table`, what the registry says are the defaults of the flags."""

    def __init__(self, entry: ServiceEntry[Any], entries: Entries, **settings: Any) -> None:
        super().__init__(entry.name, **settings)
        self.entry = entry
        self.entries = entries

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        helping = self.get_help_option(ctx)
        asks_for_help = ctx.resilient_parsing or (helping is not None and helping.name in typed)
        if typed.get("table") is not None and not asks_for_help:
            named = chosen_table(typed.get("target_base_path"), typed["table"], typed.get("registry"), self.entries)
            assert named.entry is not None, "it was named by the registry"
            registered_flags = registered(self.entry, named.entry, typed)
            ctx.default_map = {**_engine_flags(self.entry, named.entry), **registered_flags.flags}
            ctx.meta.update({_TABLE: named, _REGISTERED: registered_flags.options})
        return super().parse_args(ctx, args)


def _engine_flags(entry: ServiceEntry[Any], table: Table) -> dict[str, Any]:
    if entry.command.application is None:
        return {}
    return {"engine": entry.engine_of(table), "local_up_to": table.local.up_to}


def service_command(entry: ServiceEntry[Any], entries: Entries = ENTRIES) -> click.Command:
    """The subcommand of a service; `entries` are all those of the registry."""

    @click.pass_context
    def command(
        context: click.Context,
        /,
        target_base_path: str | None,
        table: str | None,
        registry: str | None,
        props: str | None,
        conf: Sequence[str],
        explain: bool,
        as_json: bool,
        result_path: str | None,
        engine: str,
        local_up_to: int,
        spark_master: str | None,
        recorded: str | None,
        progress_path: str | None,
        **own: Any,
    ) -> int:
        surroundings = context.find_object(Surroundings) or ALONE
        marked = (surroundings.marked or engine == SPARK) and not as_json
        tell = say if marked else echo
        with logs_told(marked=marked), ExitStack() as after, reported(result_path):
            chosen: ChosenTable = context.meta.get(_TABLE) or chosen_table(target_base_path, table, registry, entries)
            named = chosen.entry.name if chosen.entry is not None else chosen.base_path
            log_fields(**{TABLE: named, SERVICE: entry.name})
            options = laid_over(merged_options(props, conf), context.meta.get(_REGISTERED, {}))
            if spark_master is not None and engine == LOCAL:
                raise ConfigError(
                    "--spark-master has no effect on threads", fix="pass --engine spark with it, or leave it out"
                )
            if entry.command.application is None and engine == SPARK:
                raise ConfigError(f"The command {entry.name} does not run on Spark", fix="leave --engine out")
            if chosen.entry is not None and not explain:
                check_begun(entry, chosen.entry)
            if not explain and not entry.command.mends:
                check_running(entry, chosen)
            call = Call(chosen.base_path, options) if as_json else Call(chosen.base_path, options, tell, _confirm)
            task = entry.command.task(call, **own)
            from hoodie.engine import LocalEngine
            from hoodie.services.decision import Decision

            missing = _awaited(entry, chosen, own)
            if explain:  # a plan is made in this process
                plan = Decision(None, missing) if missing is not None else task.explain(LocalEngine())
                explained = Explained(entry.name, plan.as_text(entry.name), plan.as_dict(entry.name))
                if result_path is not None:
                    write_report(explained, result_path)
                echo(json.dumps(explained.plan, indent=2) if as_json else explained.text)
                return DONE
            if missing is not None:
                return finish(ServiceResult(entry.name, missing), as_json, result_path)
            if engine == AUTO:
                engine, why = _chosen_engine(task, local_up_to)
                if engine == SPARK and surroundings.spark and find_spec("pyspark") is None:
                    engine, why = LOCAL, "threads of this process, as Spark is not installed"
                call.tell(f"engine: {why}")
            if engine == SPARK and not surroundings.spark:
                return WANTS_SPARK
            verbose = bool(context.meta.get(VERBOSE))
            settings = spark_settings(entry, chosen.entry)
            history_record = recorded_of(recorded) if recorded is not None else recorded_table(chosen.entry)
            from hudi_services.operations.history.recording import carried_out_recorded, delivered  # they load Arrow

            after.enter_context(delivered(history_record))
            also = ProgressFile(progress_path).keep if progress_path is not None else say_progress if marked else None
            with progress_shown(None if as_json else tell, also) as progress:
                where, on_spark = _open_engine(
                    engine, spark_master, f"hudi {entry.name}", settings, progress, verbose=verbose
                )
                result = carried_out_recorded(history_record, entry.name, chosen.base_path, task, where, on_spark)
            log_done(result.message, result.instant)
            return finish(result, as_json, result_path)

    return ServiceCommand(
        entry,
        entries,
        callback=command,
        params=[*_shared_flags(), *entry.command.flags],
        help=inspect.cleandoc(entry.command.help),
        epilog=with_examples(entry.command.examples),
        context_settings=CONTEXT,
    )


def _awaited(entry: ServiceEntry[Any], chosen: ChosenTable, own: Mapping[str, Any]) -> str | None:
    """The reason why there is nothing to do before the first load of a table; None if there is, or the service looks by itself.

    A run of one plan, or of one that was agreed to, fails by itself: that plan was of a table that was there.
    """
    if chosen.entry is None or entry.command.mends or own.get("only") or own.get("yes"):
        return None
    missing = awaits_load(entry.name, chosen.entry)
    return missing.reason if missing is not None else None


def _confirm(question: str) -> bool:
    """Ask the user at the terminal; false without a terminal."""
    return sys.stdin.isatty() and click.confirm(question)


def _shared_flags() -> list[click.Option]:
    return [
        *table_flags(),
        *option_flags(_complete_option),
        click.Option(["--explain"], is_flag=True, help="Print the plan and change nothing."),
        json_flag("Print the plan or the result as JSON."),
        verbose_flag(),
        click.Option(
            ["--result-path"],
            type=click.Path(dir_okay=False),
            help="Also write the result there, a path or a URL, as JSON: what was done, the plan, or why it failed.",
        ),
        click.Option(
            ["--engine"],
            type=click.Choice(ENGINES),
            default=LOCAL,
            show_default=True,
            help="Threads, Spark, or threads where the work is small.",
        ),
        click.Option(
            ["--local-up-to"],
            type=_Size(),
            default=UP_TO,
            show_default=True,
            help="With --engine auto: the largest input, in bytes, that runs locally.",
        ),
        click.Option(
            ["--spark-master"], help="Spark master, when spark-submit does not give it; for instance local[2]."
        ),
        RECORDED,
        PROGRESS_PATH,
    ]


def _complete_option(context: click.Context, _parameter: click.Parameter, prefix: str) -> list[CompletionItem]:
    """The options that the service takes, up to the sign before their value."""
    command = context.command
    keys = command.entry.section.keys if isinstance(command, ServiceCommand) else ()
    return [CompletionItem(f"{key.name}=", help=key.doc) for key in keys if key.name.startswith(prefix)]


def _chosen_engine(task: Task, local_up_to: int) -> tuple[str, str]:
    from hoodie.engine import LocalEngine

    try:
        return engine_for(task.work(LocalEngine()), local_up_to)
    except OSError as error:  # in a cluster there may be another network, and other rights
        return SPARK, f"Spark, as this machine cannot look at the table and its source: {error}"


class _Size(click.ParamType[int]):
    """Bytes, such as 256m."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return bytes_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _open_engine(
    name: str,
    master: str | None,
    application: str,
    settings: Mapping[str, str],
    progress: Progress | None,
    *,
    verbose: bool,
) -> tuple[Engine, OnSpark | None]:
    """The engine that the flags ask for, and once more where it is one of Spark, which is imported only when it is wanted."""
    if name == LOCAL:
        from hoodie.engine import LocalEngine

        return LocalEngine(progress=progress), None
    session = spark_session(master, application, settings, verbose=verbose)
    from hoodie.spark import SparkEngine

    engine = SparkEngine(session, progress)
    return engine, engine
