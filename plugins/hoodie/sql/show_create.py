"""A table in the words of CREATE TABLE: its properties, and the statement that makes one like it."""

from __future__ import annotations

import re

import pyarrow as pa
from sqlglot import exp

from hoodie.config import CREATE_KEYS
from hoodie.schema.comments import comment_of
from hoodie.sql.catalog import Entry
from hoodie.sql.parse import DIALECT
from hoodie.sql.types import simple_type
from hoodie.table import HoodieTable

_SECRET = re.compile("secret|password|token|access.?key", re.IGNORECASE)
_HIDDEN = "*********(redacted)"
_SHORT = {
    "hoodie.table.recordkey.fields": "primaryKey",
    "hoodie.table.ordering.fields": "orderingFields",
}
_BY_CLAUSES = ("hoodie.table.name", "hoodie.table.type", "hoodie.table.partition.fields", "hoodie.database.name")
_SQL_DEFAULTS = {"hoodie.datasource.write.hive_style_partitioning": "true"}  # defaults of CREATE TABLE with partitions


def table_properties(entry: Entry, table: HoodieTable) -> dict[str, str]:
    """TBLPROPERTIES of a table, in order: the properties of its creation, except defaults, and the options of its writes. The
    value of a secret is hidden."""
    stored = table.properties
    properties = {"type": "mor" if stored.is_merge_on_read else "cow"}
    partitioned = bool(stored.partition_fields)
    for key in CREATE_KEYS:
        value = next((stored.raw[name] for name in key.names if name in stored.raw), None)
        default = _SQL_DEFAULTS.get(key.name) if partitioned else None
        if default is None:
            default = _text(key.default)
        if value is not None and key.name not in _BY_CLAUSES and value not in ("", default):
            properties[_SHORT.get(key.name, key.name)] = value
    properties |= entry.options
    return {name: _HIDDEN if _SECRET.search(name) else properties[name] for name in sorted(properties)}


def _text(value: object) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def create_statement(entry: Entry, table: HoodieTable) -> str:
    """A CREATE TABLE that makes an empty table like it, as Spark lays it out."""
    columns = ",\n  ".join(map(_declared, table.schema))
    lines = [f"CREATE TABLE {entry.name} (\n  {columns})", "USING hudi"]
    if table.properties.partition_fields:
        names = ", ".join(map(_identifier, table.properties.partition_fields))
        lines.append(f"PARTITIONED BY ({names})")
    if entry.comment is not None:
        lines.append(f"COMMENT {_literal(entry.comment)}")
    if not entry.managed:
        lines.append(f"LOCATION {_literal(entry.location)}")
    pairs = table_properties(entry, table).items()
    properties = ",\n  ".join(f"{_literal(name)} = {_literal(value)}" for name, value in pairs)
    return "\n".join([*lines, f"TBLPROPERTIES (\n  {properties})\n"])


def _declared(field: pa.Field) -> str:
    comment = comment_of(field)
    clause = f" COMMENT {_literal(comment)}" if comment is not None else ""
    return (
        f"{_identifier(field.name)} {simple_type(field.type, upper=True)}{' NOT NULL' * (not field.nullable)}{clause}"
    )


def _identifier(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    return str(exp.to_identifier(name, quoted=not plain).sql(dialect=DIALECT))


def _literal(text: str) -> str:
    return str(exp.Literal.string(text).sql(dialect=DIALECT))
