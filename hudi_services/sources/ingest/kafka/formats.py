"""The formats of messages that a topic may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoodie.errors import ConfigError
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import TopicSource
from hudi_services.sources.cdc.messages.contract import MessageFormat
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.cdc.messages.registry import SchemaRegistry
from hudi_services.sources.ingest.kafka.connection import registry_login


def topic_format(source: TopicSource, server: KafkaServer, environ: Mapping[str, str]) -> MessageFormat:
    """The format of a source. Raises ConfigError for one that is not there, and for a schema registry that is missing."""
    parameters: dict[str, Any] = {**source.message_options}
    if source.format.endswith("avro"):
        parameters["registry"] = _registry(source.format, server, environ)
    return message_format(source.format, **parameters)


def _registry(name: str, server: KafkaServer, environ: Mapping[str, str]) -> SchemaRegistry:
    declared = server.schema_registry
    if declared is None:
        raise ConfigError(
            f"Messages in {name} need a registry of schemas", fix="declare `schema_registry: {url: …}` of the server"
        )
    user, password = registry_login(declared.connection, environ) if declared.connection is not None else (None, None)
    return SchemaRegistry(declared.url, user, password, declared.ca)
