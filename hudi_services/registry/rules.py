"""The section `databases` of a registry: rules for tables of whole databases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.mistake_text import mistake_message, place_of, unknown
from hudi_services.entry.server import AnyServer, DatabaseServer
from hudi_services.registry.mistakes import Mistake
from hudi_services.registry.pipeline.read import read_pipeline
from hudi_services.registry.servers import Wrong, why_unknown
from hudi_services.registry.variables import expand


def checked_pipeline(
    value: dict[str, Any],
    servers: Mapping[str, AnyServer],
    declared: object,
    environ: Mapping[str, str],
    folder: Path,
) -> tuple[tuple[DatabaseRule, ...], list[Wrong], tuple[Mistake, ...]]:
    """Return the rules of a pipeline of Flink CDC, or the mistakes of the entry that names it, and those in the pipeline.

    `folder` is that of the registry. The server is the registry's: no address, user or password of the pipeline is read.
    """
    wrong: list[Wrong] = [
        ((key,), unknown(key, ("server", "pipeline"))) for key in value if key not in ("server", "pipeline")
    ]
    server, named = value.get("server"), value.get("pipeline")
    if not isinstance(server, str):
        wrong.append((("server",), "is missing" if server is None else "must be the name of a server"))
    elif problem := _wrong_server(server, servers, declared):
        wrong.append((("server",), problem))
    if not isinstance(named, str):
        return (), [*wrong, (("pipeline",), "must be the path of a pipeline in YAML")], ()
    try:
        file = folder / expand(named, environ)
    except ValueError as error:
        return (), [*wrong, (("pipeline",), str(error))], ()
    reading = read_pipeline(file, str(server), environ, with_address=False)
    return (() if wrong else reading.rules), wrong, reading.mistakes


def checked_rule(
    value: object, servers: Mapping[str, AnyServer], declared: object, environ: Mapping[str, str]
) -> tuple[DatabaseRule | None, list[Wrong]]:
    """Return a rule of the section, or its mistakes.

    `declared` is the section `servers` as it is written, also with servers that have mistakes.
    """
    if not isinstance(value, dict):
        return None, [((), "must be a mapping")]
    values: dict[str, Any] = dict(value)
    wrong: list[Wrong] = []
    try:
        if isinstance(values.get("base_path"), str):
            values["base_path"] = expand(values["base_path"], environ)
    except ValueError as error:
        wrong.append((("base_path",), str(error)))
    try:
        rule = DatabaseRule.model_validate(values)
    except ValidationError as error:
        return None, wrong + [(place_of(problem), mistake_message(problem, DatabaseRule)) for problem in error.errors()]
    if problem := _wrong_server(rule.server, servers, declared):
        wrong.append((("server",), problem))
    return (None, wrong) if wrong else (rule, [])


def _wrong_server(name: str, servers: Mapping[str, AnyServer], declared: object) -> str | None:
    """Return the reason for which no rule may name a server. None: it may."""
    server = servers.get(name)
    if server is None:
        names = [str(name) for name in declared] if isinstance(declared, dict) else []
        return f"names {name!r}, {why_unknown(name, names)}"
    if not isinstance(server, DatabaseServer):
        return f"names {name!r}, which is a server of Kafka"
    if server.state is None:
        return f"names {name!r}, which has no `state`: a folder for its plan and its cuts"
    return None
