"""Types of SQL and of Arrow, as Hudi's tables hold them (format notes, section 8)."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.parse import DIALECT

_PLAIN = {
    exp.DType.BOOLEAN: pa.bool_(),
    exp.DType.INT: pa.int32(),
    exp.DType.BIGINT: pa.int64(),
    exp.DType.FLOAT: pa.float32(),
    exp.DType.DOUBLE: pa.float64(),
    exp.DType.TEXT: pa.string(),
    exp.DType.VARCHAR: pa.string(),
    exp.DType.BINARY: pa.binary(),
    exp.DType.VARBINARY: pa.binary(),
    exp.DType.DATE: pa.date32(),
    exp.DType.TIMESTAMP: pa.timestamp("us", "UTC"),
    exp.DType.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    exp.DType.TIMESTAMPLTZ: pa.timestamp("us", "UTC"),
    exp.DType.TIMESTAMPNTZ: pa.timestamp("us"),
}
_INSTEAD = {  # Avro has none of them: a value that Spark refuses or pads would be stored
    exp.DType.TINYINT: "INT",
    exp.DType.SMALLINT: "INT",
    exp.DType.CHAR: "STRING",
}


def arrow_field(column: exp.ColumnDef) -> pa.Field:
    """The column of a table. Raises SqlError for a type that tables do not have, and for what is said of a column beyond NOT NULL
    and COMMENT."""
    nullable, attributes = True, dict[str, str]()
    for constraint in column.args.get("constraints") or ():
        kind = constraint.args.get("kind")
        if isinstance(kind, exp.NotNullColumnConstraint):
            nullable = bool(kind.args.get("allow_null"))
        elif isinstance(kind, exp.CommentColumnConstraint):
            attributes["comment"] = kind.this.this
        else:
            raise SqlError(
                f"Column {column.name} is declared by more than tables hold",
                found=constraint.sql(dialect=DIALECT),
                fix="leave it out: of a column a table holds type, NOT NULL and COMMENT",
            )
    return pa.field(column.name, arrow_type(column.args.get("kind"), column.name), nullable, attributes or None)


def arrow_type(kind: exp.Expression | None, column: str) -> pa.DataType:
    """The Arrow type of a type of SQL. Raises SqlError for one that tables do not have."""
    if isinstance(kind, exp.DataType):
        if kind.this in _PLAIN:
            return _PLAIN[kind.this]
        if kind.this in _INSTEAD:
            raise SqlError(
                f"Column {column} has a type with limits that a table does not keep",
                found=kind.sql(dialect=DIALECT),
                fix=f"declare it as {_INSTEAD[kind.this]}",
            )
        inner = kind.expressions
        if kind.this is exp.DType.DECIMAL:
            precision, scale = [int(part.name) for part in inner] + [10, 0][len(inner) :]
            if 0 < precision <= 38 and 0 <= scale <= precision:
                return pa.decimal128(precision, scale)
        if kind.this in (exp.DType.ARRAY, exp.DType.LIST) and len(inner) == 1:
            return pa.list_(arrow_type(inner[0], column))
        if kind.this is exp.DType.MAP and len(inner) == 2:
            return pa.map_(arrow_type(inner[0], column), arrow_type(inner[1], column))
        if kind.this is exp.DType.STRUCT and inner:
            return pa.struct([arrow_field(field) for field in inner])
    raise SqlError(
        f"Column {column} has a type that tables do not have",
        found=kind.sql(dialect=DIALECT) if kind is not None else "no type",
        fix="use BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, "
        "ARRAY<…>, MAP<STRING, …> or STRUCT<name: …>",
    )


_WORDS = {
    kind: word for word, kind in (("TIMESTAMP_NTZ", pa.timestamp("us")), ("TIMESTAMP", pa.timestamp("us", "UTC")))
}
_WORDS |= {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
}


def sql_type(kind: pa.DataType) -> str:
    """The type as Spark's SQL writes it. Raises SqlError for one that it cannot write."""
    if kind in _WORDS:
        return _WORDS[kind]
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return _WORDS[pa.timestamp("us", "UTC" if kind.tz else None)]
    if pa.types.is_fixed_size_binary(kind):
        return "BINARY"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"ARRAY<{sql_type(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"MAP<{sql_type(kind.key_type)}, {sql_type(kind.item_type)}>"
    if pa.types.is_struct(kind):
        fields = ", ".join(f"{exp.to_identifier(f.name).sql(dialect=DIALECT)}: {sql_type(f.type)}" for f in kind)
        return f"STRUCT<{fields}>"
    raise SqlError(f"A column of type {kind} has no type of SQL", fix="read it by HoodieTable.read")


def simple_type(kind: pa.DataType, *, upper: bool = False) -> str:
    """The type as Spark's DESCRIBE writes it; `upper` as SHOW CREATE TABLE does. Names of fields stay. Raises SqlError for one
    that SQL cannot write."""
    comma, colon = (", ", ": ") if upper else (",", ":")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        text, inner = "array<{}>", simple_type(kind.value_type, upper=upper)
    elif pa.types.is_map(kind):
        text = "map<{}>"
        inner = comma.join(simple_type(part, upper=upper) for part in (kind.key_type, kind.item_type))
    elif pa.types.is_struct(kind):
        text, inner = "struct<{}>", comma.join(f"{f.name}{colon}{simple_type(f.type, upper=upper)}" for f in kind)
    else:
        plain = sql_type(kind).replace(" ", "")
        return plain if upper else plain.lower()
    return (text.upper() if upper else text).format(inner)
