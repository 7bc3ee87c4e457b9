"""Avro schemas as Connect types: what Confluent's converter writes into them, and Avro's own annotations of other producers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import fastavro
import pyarrow as pa

from hoodie.errors import HoodieError
from hoodie.formats.avro_columns import AvroColumns
from hoodie.schema.avro import avro_to_arrow
from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.json_values import FaultError

_KINDS = {
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "boolean": "boolean",
    "string": "string",
    "enum": "string",
    "bytes": "bytes",
    "fixed": "bytes",
    "record": "struct",
    "array": "array",
    "map": "map",
}
DECIMAL = "org.apache.kafka.connect.data.Decimal"
ANNOTATION = "avro."
"""Before the names of Avro's own annotations: Connect has none for instants."""


class AvroReader:
    """Reads bodies of one schema. Raises FaultError for a schema that has no column form."""

    def __init__(self, text: str) -> None:
        try:
            schema = json.loads(text)
            expanded: Any = fastavro.schema.expand_schema(schema)
            self.written = type_of_avro(expanded)
            self.columns: AvroColumns | None = None
            if self.written.kind == "struct":
                plain = without_annotations(schema)
                self.arrow = avro_to_arrow(json.dumps(plain), unions=True)
                self.columns = AvroColumns(plain, self.arrow)
        except FaultError:
            raise
        except (
            HoodieError,
            ValueError,
            TypeError,
            KeyError,
            RecursionError,
            fastavro.schema.SchemaParseException,
        ) as error:
            raise FaultError(f"the Avro schema of the message cannot be read: {error}") from None


def type_of_avro(schema: Any) -> ConnectType:
    """Return the type of an expanded schema. Raises FaultError for what has no column form."""
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        if len(branches) != 1:
            raise FaultError("a union of several types")
        return _optional(type_of_avro(branches[0]))
    if isinstance(schema, str):
        return _type(schema, {})
    return type_of_avro(schema["type"]) if isinstance(schema["type"], dict | list) else _type(schema["type"], schema)


def _type(avro: str, schema: Mapping[str, Any]) -> ConnectType:
    if avro not in _KINDS:
        raise FaultError(f"the Avro type {avro!r}")
    parameters = {str(name): str(value) for name, value in (schema.get("connect.parameters") or {}).items()}
    name = str(schema.get("connect.name") or "")
    if not name and (annotation := schema.get("logicalType")):
        name = f"{ANNOTATION}{annotation}"
        if annotation == "decimal":
            name = DECIMAL
            parameters |= {"scale": str(schema.get("scale", 0)), "connect.decimal.precision": str(schema["precision"])}
    return ConnectType(
        _KINDS[avro],
        name,
        parameters,
        {field["name"]: type_of_avro(field["type"]) for field in schema.get("fields", ())},
        type_of_avro(schema["items"] if avro == "array" else schema["values"]) if avro in ("array", "map") else None,
        ConnectType("string") if avro == "map" else None,
    )


def _optional(written: ConnectType) -> ConnectType:
    return ConnectType(
        written.kind, written.name, written.parameters, written.fields, written.items, written.keys, optional=True
    )


def without_annotations(schema: Any) -> Any:
    """Return a schema with the types in which values are stored: a date is an int, a decimal is bytes."""
    if isinstance(schema, list):
        return [without_annotations(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = ("logicalType", "doc", "default", "precision", "scale")
    return {name: without_annotations(value) for name, value in schema.items() if name not in dropped}


def structs_of(table: pa.Table) -> pa.StructArray:
    """Return the rows of a table as structs."""
    columns = [one_chunk(column) for column in table.columns]
    return pa.StructArray.from_arrays(columns, fields=list(table.schema))
