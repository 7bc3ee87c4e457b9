"""A service as a subcommand: the flags that all share, its own, and what is printed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

import click

from hoodie.engine import Engine, LocalEngine
from hoodie.errors import ConfigError
from hudi_services.entry.call import Call, carried_out
from hudi_services.entry.service import ServiceEntry
from hudi_services.properties import merged_options
from hudi_services.result import DONE, check_result_path, finish

_OLD_MASTERS = ("yarn-cluster", "yarn-client")


def service_command(entry: ServiceEntry[Any]) -> click.Command:
    """The subcommand of a service."""

    def command(
        target_base_path: str,
        props: str | None,
        conf: Sequence[str],
        explain: bool,
        as_json: bool,
        result_path: str | None,
        engine: str,
        spark_master: str | None,
        **own: Any,
    ) -> int:
        options = merged_options(props, conf)
        if spark_master is not None and engine == "local":
            raise ConfigError(
                "--spark-master has no effect on threads", fix="pass --engine spark with it, or leave it out"
            )
        if result_path is not None and not explain:
            check_result_path(result_path)
        if entry.command.application is None and engine == "spark":
            raise ConfigError(f"The command {entry.name} does not run on Spark", fix="leave --engine out")
        call = Call(target_base_path, options) if as_json else Call(target_base_path, options, click.echo)
        task = entry.command.task(call, **own)
        if explain:  # a plan is made in this process
            plan = task.explain(LocalEngine())
            click.echo(json.dumps(plan.as_dict(entry.name), indent=2) if as_json else plan.as_text(entry.name))
            return DONE
        where = _open_engine(engine, spark_master, f"hudi {entry.name}")
        return finish(carried_out(task, where), as_json, result_path)

    return click.Command(
        entry.name,
        callback=command,
        params=[*_shared_flags(), *entry.command.flags],
        help=inspect.cleandoc(entry.command.help),
    )


def _shared_flags() -> list[click.Option]:
    return [
        click.Option(["--target-base-path"], required=True, help="Path or URL of the table."),
        click.Option(["--props"], help="Properties file of hoodie.* options, a path or URL."),
        click.Option(
            ["--hoodie-conf", "conf"],
            multiple=True,
            metavar="KEY=VALUE",
            help="One option; wins over --props. Repeatable.",
        ),
        click.Option(["--explain"], is_flag=True, help="Print the plan and change nothing."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print the plan or the result as JSON."),
        click.Option(
            ["--result-path"],
            type=click.Path(dir_okay=False),
            help="Also write the result there, a path or a URL, as JSON.",
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


def _open_engine(name: str, master: str | None, application: str) -> Engine:
    """The engine that the flags ask for. Spark is imported only when it is wanted."""
    if name == "local":
        return LocalEngine()
    if master in _OLD_MASTERS:
        raise ConfigError(
            f"--spark-master {master} is no master of Spark's any more",
            fix=f"pass `--master yarn --deploy-mode {master.removeprefix('yarn-')}` to spark-submit, and no --spark-master",
        )
    from hoodie.spark import SparkEngine
    from hudi_services.spark_session import open_session

    return SparkEngine(open_session(master, application))
