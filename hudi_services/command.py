"""A service as a subcommand: the flags that all share, its own, and what is printed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from hoodie.errors import ConfigError, missing_extra
from hudi_services.entries import ENTRIES, Entries
from hudi_services.entry.call import Call, carried_out
from hudi_services.entry.service import ServiceEntry
from hudi_services.flags import (
    CONTEXT,
    VERBOSE,
    ChosenTable,
    chosen_table,
    json_flag,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.lines import logs_told, say
from hudi_services.properties import merged_options
from hudi_services.registered import check_begun, laid_over, registered, spark_settings
from hudi_services.result import DONE, Explained, finish, reported, write_report

if TYPE_CHECKING:  # it loads Arrow, which help and completion do without
    from hoodie.engine import Engine

_OLD_MASTERS = ("yarn-cluster", "yarn-client")
_TABLE, _REGISTERED = "hudi_services.table", "hudi_services.options"  # keys of a context's notes


class ServiceCommand(click.Command):
    """The subcommand of a service. With `--table`, what the registry says are the defaults of the flags."""

    def __init__(self, entry: ServiceEntry[Any], entries: Entries, **settings: Any) -> None:
        super().__init__(entry.name, **settings)
        self.entry = entry
        self.entries = entries

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        if typed.get("table") is not None and not ctx.resilient_parsing and "help" not in typed:
            named = chosen_table(typed.get("target_base_path"), typed["table"], typed.get("registry"), self.entries)
            assert named.entry is not None, "it was named by the registry"
            found = registered(self.entry, named.entry, typed)
            ctx.default_map = dict(found.flags)
            ctx.meta.update({_TABLE: named, _REGISTERED: found.options})
        return super().parse_args(ctx, args)


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
        spark_master: str | None,
        **own: Any,
    ) -> int:
        on_spark = engine == "spark"
        marked = on_spark and not as_json
        with reported(result_path), logs_told(marked=marked):
            chosen: ChosenTable = context.meta.get(_TABLE) or chosen_table(target_base_path, table, registry, entries)
            options = laid_over(merged_options(props, conf), context.meta.get(_REGISTERED, {}))
            if spark_master is not None and not on_spark:
                raise ConfigError(
                    "--spark-master has no effect on threads", fix="pass --engine spark with it, or leave it out"
                )
            if entry.command.application is None and on_spark:
                raise ConfigError(f"The command {entry.name} does not run on Spark", fix="leave --engine out")
            if chosen.entry is not None and not explain:
                check_begun(entry, chosen.entry)
            tell = say if marked else click.echo
            call = Call(chosen.base_path, options) if as_json else Call(chosen.base_path, options, tell)
            task = entry.command.task(call, **own)
            from hoodie.engine import LocalEngine

            if explain:  # a plan is made in this process
                plan = task.explain(LocalEngine())
                explained = Explained(entry.name, plan.as_text(entry.name), plan.as_dict(entry.name))
                if result_path is not None:
                    write_report(explained, result_path)
                click.echo(json.dumps(explained.plan, indent=2) if as_json else explained.text)
                return DONE
            verbose = bool(context.meta.get(VERBOSE))
            settings = spark_settings(entry, chosen.entry)
            where = _open_engine(engine, spark_master, f"hudi {entry.name}", settings, verbose=verbose)
            return finish(carried_out(task, where), as_json, result_path)

    return ServiceCommand(
        entry,
        entries,
        callback=command,
        params=[*_shared_flags(), *entry.command.flags],
        help=inspect.cleandoc(entry.command.help),
        epilog=with_examples(entry.command.examples),
        context_settings=CONTEXT,
    )


def _shared_flags() -> list[click.Option]:
    return [
        *table_flags(),
        click.Option(["--props"], help="Properties file of hoodie.* options, a path or URL."),
        click.Option(
            ["--hoodie-conf", "conf"],
            multiple=True,
            metavar="KEY=VALUE",
            shell_complete=_complete_option,
            help="One option; wins over --props, and that over the registry. Repeatable.",
        ),
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
            type=click.Choice(["local", "spark"]),
            default="local",
            show_default=True,
            help="Threads, or Spark.",
        ),
        click.Option(
            ["--spark-master"], help="Spark master, when spark-submit does not give it; for instance local[2]."
        ),
    ]


def _complete_option(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The options that the service takes, up to the sign before their value."""
    command = context.command
    keys = command.entry.section.keys if isinstance(command, ServiceCommand) else ()
    return [CompletionItem(f"{key.name}=", help=key.doc) for key in keys if key.name.startswith(begun)]


def _open_engine(
    name: str, master: str | None, application: str, settings: Mapping[str, str], *, verbose: bool
) -> Engine:
    """The engine that the flags ask for. Spark is imported only when it is wanted."""
    if name == "local":
        from hoodie.engine import LocalEngine

        return LocalEngine()
    if master in _OLD_MASTERS:
        raise ConfigError(
            f"--spark-master {master} is no master of Spark's any more",
            fix=f"pass `--master yarn --deploy-mode {master.removeprefix('yarn-')}` to spark-submit, and no --spark-master",
        )
    try:
        from hoodie.spark import SparkEngine
        from hudi_services.spark_session import open_session
    except ImportError as error:
        raise missing_extra("spark", "--engine spark", error) from error

    return SparkEngine(open_session(master, application, settings, verbose=verbose))
