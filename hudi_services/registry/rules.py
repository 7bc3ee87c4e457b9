"""The section `databases` of a registry: rules for tables of whole databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.server import AnyServer, DatabaseServer
from hudi_services.entry.words import place_of, told
from hudi_services.registry.places import expand
from hudi_services.registry.servers import Wrong, why_unknown


def checked_rule(
    value: object, servers: Mapping[str, AnyServer], declared: object, environ: Mapping[str, str]
) -> tuple[DatabaseRule | None, list[Wrong]]:
    """Return a rule of the section, or its mistakes.

    `declared` is the section `servers` as it is written, also with servers that have mistakes.
    """
    if not isinstance(value, dict):
        return None, [((), "must be a mapping")]
    given: dict[str, Any] = dict(value)
    wrong: list[Wrong] = []
    try:
        if isinstance(given.get("base_path"), str):
            given["base_path"] = expand(given["base_path"], environ)
    except ValueError as error:
        wrong.append((("base_path",), str(error)))
    try:
        rule = DatabaseRule.model_validate(given)
    except ValidationError as error:
        return None, wrong + [(place_of(problem), told(problem, DatabaseRule)) for problem in error.errors()]
    server = servers.get(rule.server)
    if server is None:
        names = [str(name) for name in declared] if isinstance(declared, dict) else []
        wrong.append((("server",), f"names {rule.server!r}, {why_unknown(rule.server, names)}"))
    elif not isinstance(server, DatabaseServer):
        wrong.append((("server",), f"names {rule.server!r}, which is a server of Kafka"))
    elif server.state is None:
        wrong.append((("server",), f"names {rule.server!r}, which has no `state`: a folder for its plan and its cuts"))
    return (None, wrong) if wrong else (rule, [])
