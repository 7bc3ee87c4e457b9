"""Schemas of Kafka Connect: the types of a message's values, as the converters write them into messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_JSON_KINDS = {"float": "float32", "double": "float64"}
_KINDS = frozenset(
    ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes", "struct", "array", "map")
)


@dataclass(frozen=True)
class ConnectType:
    """A type. `name` says what the values mean, such as `io.debezium.time.Date`.

    `fields` are those of a struct, `items` the elements of an array or the values of a map, `keys` the keys of a map.
    A value that is not `optional` may be missing only if it `has_default`.
    """

    kind: str
    name: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, ConnectType] = field(default_factory=dict)
    items: ConnectType | None = None
    keys: ConnectType | None = None
    optional: bool = False
    has_default: bool = False

    def number(self, parameter: str) -> int | None:
        """Return a parameter that is a whole number, None where it is missing or no number."""
        text = self.parameters.get(parameter, "")
        return int(text) if text.lstrip("-").isdigit() else None


def type_of_json(schema: Any) -> ConnectType:
    """Return the type that the JSON converter describes so. Raises ValueError for what is no schema."""
    if not isinstance(schema, dict):
        raise ValueError(f"a schema of the message is {schema!r:.60}")
    written = schema.get("type")
    kind = _JSON_KINDS.get(str(written), str(written))
    if kind not in _KINDS:
        raise ValueError(f"the schema of the message has the type {written!r:.60}")
    parts = schema.get("fields") or []
    parameters = schema.get("parameters") or {}
    if not isinstance(parts, list) or not isinstance(parameters, dict):
        raise ValueError(f"the schema of the message has a {kind} whose fields or parameters cannot be read")
    if kind in ("array", "map") and "items" not in schema and "values" not in schema:
        raise ValueError(f"the schema of the message has a type {kind} without the type of its elements")
    return ConnectType(
        kind,
        str(schema.get("name") or ""),
        {str(name): str(value) for name, value in parameters.items()},
        _fields(parts),
        type_of_json(schema.get("items", schema.get("values"))) if kind in ("array", "map") else None,
        type_of_json(schema.get("keys")) if kind == "map" else None,
        schema.get("optional") is True,
        schema.get("default") is not None,
    )


def _fields(parts: list[Any]) -> dict[str, ConnectType]:
    fields: dict[str, ConnectType] = {}
    for part in parts:
        name = part.get("field") if isinstance(part, dict) else None
        if not isinstance(name, str) or name in fields:
            raise ValueError(f"the schema of the message has a field with the name {name!r:.60}, or has it twice")
        fields[name] = type_of_json(part)
    return fields
