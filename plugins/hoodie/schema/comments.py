"""Comments of columns: `doc` of an Avro field, as Hudi keeps them, metadata `comment` of an Arrow field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_COMMENT = b"comment"


def comment_of(field: pa.Field) -> str | None:
    """The column's comment in the field's metadata; None without one."""
    return ((field.metadata or {}).get(_COMMENT) or b"").decode(errors="replace") or None


def commented(field: pa.Field, comment: object) -> pa.Field:
    """The field with this comment and no other metadata; an empty comment, or one that is not text, is left out."""
    metadata = {_COMMENT: comment.encode()} if isinstance(comment, str) and comment else None
    return pa.field(field.name, field.type, field.nullable, metadata)


def documented(schema: str, docs: Mapping[str, str]) -> str:
    """The Avro schema (JSON) with these comments by dotted name: `a.b`, `a.element.b`, `a.value.b`."""
    if not docs:
        return schema
    parsed = json.loads(schema)
    _document(parsed, docs, "")
    return json.dumps(parsed, separators=(",", ":"))


def _document(avro: Any, docs: Mapping[str, str], prefix: str) -> None:
    if isinstance(avro, list):
        for branch in avro:
            _document(branch, docs, prefix)
    elif isinstance(avro, dict) and avro["type"] == "record":
        for field in avro["fields"]:
            path = prefix + field["name"]
            if path in docs:
                field["doc"] = docs[path]
            _document(field["type"], docs, f"{path}.")
    elif isinstance(avro, dict) and avro["type"] == "array":
        _document(avro["items"], docs, f"{prefix}element.")
    elif isinstance(avro, dict) and avro["type"] == "map":
        _document(avro["values"], docs, f"{prefix}value.")
