"""The servers that a registry declares, and the sources of tables that name one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from hudi_services.entry.mistake_text import mistake_message
from hudi_services.entry.server import SERVER_KINDS, AnyServer, KafkaServer
from hudi_services.entry.source import DatabaseSource, TopicSource
from hudi_services.entry.table import Table

T = TypeVar("T", bound=Table)
Wrong = tuple[tuple[Any, ...], str]
"""The keys of a mistake, and what is wrong there."""


def checked_server(value: object) -> tuple[AnyServer | None, list[Wrong]]:
    """A server of the section `servers`, or its mistakes. Messages show no value, which may be a secret."""
    if not isinstance(value, dict):
        return None, [((), "must be a mapping")]
    if "type" not in value:
        return None, [(("type",), f"is missing: {' or '.join(SERVER_KINDS)}")]
    kind = SERVER_KINDS.get(str(value["type"]))
    if kind is None:
        return None, [(("type",), f"has to be {' or '.join(map(repr, SERVER_KINDS))}")]
    try:
        return kind.model_validate(value), []
    except ValidationError as error:
        return None, [(problem["loc"], mistake_message(problem, kind, secret=True)) for problem in error.errors()]


def with_server(table: T, servers: Mapping[str, AnyServer], declared: object) -> tuple[T, str | None]:
    """The table with the declaration of the server that its source names, and what is wrong with that name.

    `declared` is the section as it is written, also with servers that have mistakes.
    """
    source = table.source
    if not isinstance(source, TopicSource | DatabaseSource):
        return table, None
    server = servers.get(source.server)
    if server is None:
        names = [str(name) for name in declared] if isinstance(declared, dict) else []
        return table, f"names {source.server!r}, {why_unknown(source.server, names)}"
    if isinstance(source, DatabaseSource):
        if isinstance(server, KafkaServer):
            return table, f"names {source.server!r}, which is a server of Kafka: name a `topic`"
        if server.databases and source.table.partition(".")[0] not in server.databases:
            return table, f"names {source.server!r}, whose `databases` lack {source.table.partition('.')[0]!r}"
        return table, None
    if not isinstance(server, KafkaServer):
        return table, f"names {source.server!r}, which is a database server: name a `table`, and no topic"
    if source.format.endswith("avro") and server.schema_registry is None:
        return table, f"names {source.server!r}, which has no schema_registry: {source.format} needs one"
    return table.model_copy(update={"source": source.on(server)}), None


def why_unknown(name: str, names: list[str]) -> str:
    """Return the reason for which no server has this name. `names` are those of the section `servers`."""
    if name in names:
        return "whose declaration below `servers` has mistakes"
    if close := difflib.get_close_matches(name, names, n=1):
        return f"which is no server of the registry; did you mean {close[0]!r}?"
    return f"which is no server of the registry; known: {', '.join(sorted(names)[:10]) or 'no server'}"
