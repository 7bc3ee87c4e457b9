"""What every subcommand takes: the table, options from files and flags, explain, result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from hoodie.config import select_keys
from hoodie.config.ingest_keys import SOURCE_ROOT
from hoodie.config.java_properties import parse_properties
from hoodie.config.key import resolve
from hoodie.engine import Engine, LocalEngine
from hoodie.errors import ConfigError
from hoodie.storage import open_storage
from hudi_services.result import check_result_path

_INCLUDE = "include"  # a key of Hudi's properties files
_OLD_MASTERS = ("yarn-cluster", "yarn-client")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Common:
    """What the shared flags say. `options` are those of `--props`, then those of `--hoodie-conf`."""

    base_path: str
    options: Mapping[str, str]
    explain: bool
    as_json: bool
    result_path: str | None
    engine: str
    spark_master: str | None

    def open_engine(self, application: str) -> Engine:
        """Where the service runs; a plan is made in this process."""
        return open_engine("local" if self.explain else self.engine, self.spark_master, application)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Flags that all services share (design, section 4); the command gets them as its first argument, a Common."""

    @wraps(command)
    def with_common(
        target_base_path: str,
        props: str | None,
        conf: Sequence[str],
        explain: bool,
        as_json: bool,
        result_path: str | None,
        engine: str,
        spark_master: str | None,
        **own: Any,
    ) -> Any:
        options = merged_options(props, conf)
        if spark_master is not None and engine == "local":
            raise ConfigError(
                "--spark-master has no effect on threads", fix="pass --engine spark with it, or leave it out"
            )
        if result_path is not None and not explain:
            check_result_path(result_path)
        return command(Common(target_base_path, options, explain, as_json, result_path, engine, spark_master), **own)

    with_flags: Callable[..., Any] = with_common
    flags: list[Decorator] = [
        click.option("--target-base-path", required=True, help="Path or URL of the table."),
        click.option(
            "--props",
            "props",
            help="Properties file of hoodie.* options, a path or URL.",
        ),
        click.option(
            "--hoodie-conf",
            "conf",
            multiple=True,
            metavar="KEY=VALUE",
            help="One option; wins over --props. Repeatable.",
        ),
        click.option("--explain", is_flag=True, help="Print the plan and change nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print the plan or the result as JSON."),
        click.option(
            "--result-path",
            type=click.Path(dir_okay=False),
            help="Also write the result there, a path or a URL, as JSON.",
        ),
        click.option(
            "--engine",
            type=click.Choice(["local", "spark"]),
            default="local",
            show_default=True,
            help="Threads, or Spark.",
        ),
        click.option("--spark-master", help="Spark master, when spark-submit does not give it; for instance local[2]."),
    ]
    for flag in reversed(flags):
        with_flags = flag(with_flags)
    return with_flags


def merged_options(props: str | None, conf: Sequence[str]) -> dict[str, str]:
    """Options of the properties file, then those of the flags. Raises ConfigError for a flag that is no KEY=VALUE."""
    options: dict[str, str] = {}
    if props is not None:
        options.update(read_properties(props))
    for entry in conf:
        key, separator, value = entry.partition("=")
        if not separator or not key.strip():
            raise ConfigError(f"--hoodie-conf {entry!r} is no KEY=VALUE", fix="write it as hoodie.some.key=value")
        options[key.strip()] = value.strip()
    return options


def read_properties(address: str, including: tuple[str, ...] = ()) -> dict[str, str]:
    """The options of a properties file at a path or URL, laid over those of the file that its `include` names, beside it.

    Raises ConfigError for a file that is not there, cannot be read, or includes itself.
    """
    folder, _, name = address.rpartition("/")
    if address in including:
        raise ConfigError(f"Properties file {address} includes itself", fix="remove one `include`")
    try:
        options = parse_properties(open_storage(folder or ".").read(name))
    except FileNotFoundError:
        raise ConfigError(f"Properties file {address} is not there", fix="correct --props, or the `include`") from None
    except ValueError as error:
        raise ConfigError(
            f"Properties file {address} cannot be read", found=str(error), fix="correct the escape"
        ) from None
    other = options.pop(_INCLUDE, None)
    if other is None:
        return options
    beside = other if "://" in other or other.startswith("/") else f"{folder or '.'}/{other}"
    return {**read_properties(beside, (*including, address)), **options}


def source_folder(flag: str | None, options: Mapping[str, object]) -> str:
    """The folder that is loaded: of `--source-path`, or of HoodieStreamer's option. Raises ConfigError for none, or for two."""
    given = resolve(select_keys(options, [SOURCE_ROOT]), [SOURCE_ROOT]).get(SOURCE_ROOT)
    if flag is None and not given:
        raise ConfigError(
            "No source to load from", fix=f"pass --source-path, or set {SOURCE_ROOT.name}, to a folder of files"
        )
    if flag is not None and given and flag.rstrip("/") != given.rstrip("/"):
        raise ConfigError(
            f"--source-path contradicts {SOURCE_ROOT.name}", found=f"{flag} and {given}", fix="keep one of them"
        )
    return str(given) if flag is None else flag


def open_engine(name: str, master: str | None, application: str) -> Engine:
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
