"""The declaration of a server for commands of `cdc`: the registry, or a pipeline of Flink CDC."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file

if TYPE_CHECKING:
    from hudi_services.registry.pipeline_registry import Declaration


def pipeline_flag() -> click.Option:
    """Return the flag that names a pipeline in place of the registry."""
    return click.Option(
        ["--pipeline"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="A pipeline of Flink CDC in YAML, from MySQL to Hudi, in place of the registry. SERVER is the name of its server "
        "here.",
    )


def declaration(server: str, registry: str | None, pipeline: str | None) -> Declaration:
    """Return the registry, or the pipeline in its place. Raises ConfigError, and UsageError where both are named."""
    from hudi_services.registry.pipeline_registry import Declaration, declared_by_pipeline

    if pipeline is None:
        return Declaration(read_registry(registry_file(registry)), os.environ)
    if click.get_current_context().get_parameter_source("registry") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--pipeline contradicts --registry: name one of them.")
    return declared_by_pipeline(server, pipeline, os.environ)
