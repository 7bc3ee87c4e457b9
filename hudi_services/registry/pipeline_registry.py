"""A database server and rules for its tables by a pipeline of Flink CDC, in place of a registry."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from hoodie.display import counted
from hoodie.errors import ConfigError
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.load import Reading, Registry
from hudi_services.registry.mistakes import Mistake
from hudi_services.registry.pipeline.read import read_pipeline
from hudi_services.registry.pipeline.source import PipelineSource
from hudi_services.sources.cdc.credentials import variable_of

_CONNECTION = "pipeline"
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Declaration:
    """A registry, the environment with the connections of its servers, and options of a pipeline that have no effect."""

    reading: Reading
    environ: Mapping[str, str]
    notes: tuple[Mistake, ...] = ()


def declared_by_pipeline(server: str, file: str | PathLike[str], environ: Mapping[str, str]) -> Declaration:
    """Return the pipeline in `file` as a registry with the one server `server`.

    Plans and cuts are in `.servers` below the folder of the sink. The password is in the environment of the result only. Raises
    ConfigError with all that the pipeline asks for and that is not there.
    """
    if not _NAME.fullmatch(server) or server in (".", ".."):
        raise ConfigError(f"{server!r:.200} is not a name of a server", fix="use letters, digits, `_`, `-` and `.`")
    pipeline = read_pipeline(file, server, environ, with_address=True)
    source = pipeline.source
    if source is None:
        lines = "\n  ".join(map(str, pipeline.mistakes))
        raise ConfigError(
            f"{counted(len(pipeline.mistakes), 'option')} of the pipeline {file} cannot be kept",
            found=f"\n  {lines}",
            fix="change these lines. docs/how-to/flink-cdc.md lists what a pipeline may have",
        )
    declared = DatabaseServer(
        type="mysql",
        connection=_CONNECTION,
        tls=source.tls,
        server_id=source.number(server),
        state=f"{pipeline.folder}/.servers",
    )
    registry = Registry(str(file), servers={server: declared}, databases=pipeline.rules)
    return Declaration(
        Reading(registry, ()), {**environ, variable_of(_CONNECTION): _connection(source)}, pipeline.notes
    )


def _connection(source: PipelineSource) -> str:
    address = {"conn_type": "mysql", "host": source.hostname, "port": source.port}
    return json.dumps({**address, "login": source.username, "password": source.password})
