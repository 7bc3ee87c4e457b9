"""Partitions that a statement names by values of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import chain

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.changes import Target, partitions_query
from hoodie.sql.engine import Rows
from hoodie.sql.look import Look
from hoodie.sql.parse import DIALECT
from hoodie.sql.session import Session
from hoodie.sql.types import sql_type


def named_partitions(session: Session, target: Target, values: Mapping[str, exp.Expression], look: Look) -> Rows:
    """A key of each partition of which all rows have these values of some or all partition columns.

    As in Spark the values are cast to the types of the columns. Raises SqlError for a value that its column cannot hold, and for
    a column of times: the TIMESTAMP key generator keeps many of them in one partition.
    """
    timed = [name for name in values if name in target.properties.timestamp_partition_fields]
    if timed:
        raise SqlError(
            f"A value of column {timed[0]} does not name a partition of table {target.node.name}",
            found="the TIMESTAMP key generator, which puts several values into one partition",
            fix=f"delete the rows of a range: DELETE FROM {target.node.name} WHERE {timed[0]} >= … AND {timed[0]} < …; "
            "nothing was changed",
        )
    return session.rows(partitions_query(target, partition_casts(session, target, values)), look)


def partition_casts(
    session: Session, target: Target, values: Mapping[str, exp.Expression]
) -> dict[str, exp.Expression]:
    """The values in the types of their columns, each by way of its text, as Spark does.

    Raises SqlError for a value that is not a literal, as in Spark's grammar: `2026-01-31` without quotes is the number 1994. Also
    for a value that its cast makes null, another number, or another time.
    """
    if not values:
        return {}
    for name, value in values.items():
        if not _is_literal(value):
            raise SqlError(
                f"The value of partition column {name} is not a literal",
                found=value.sql(dialect=DIALECT),
                fix=f"write it as one, a date in quotes: {name} = '2026-01-31'; nothing was changed",
            )
    texts = {name: exp.null() if text is None else exp.Literal.string(text) for name, text in _texts(session, values)}
    casts = {name: _try_cast(text, _type(target, name)) for name, text in texts.items()}
    compared = [_compared(texts[name], casts[name], is_date=_is_date(target, name)) for name in values]
    columns = [column.as_(f"c{place}") for place, column in enumerate(chain(*compared))]
    (row,) = session.rows(exp.select(*columns)).fetched().to_pylist()
    results = iter(row.values())
    for name, value in values.items():
        value_text, written, same = next(results), next(results), next(results)
        if _is_null(value):
            continue
        if value_text is None or not _is_kept(target.column(name).type, value_text, written, same):
            raise SqlError(
                f"A value cannot be stored in partition column {name} of type {_type(target, name)}",
                found=value.sql(dialect=DIALECT),
                fix="give a value of that type; nothing was changed",
            )
    return casts


def _texts(session: Session, values: Mapping[str, exp.Expression]) -> Iterator[tuple[str, str | None]]:
    """The values as texts. The engine makes them by a query of their own: it takes seconds for casts inside casts of a cast."""
    columns = [
        exp.cast(value.copy(), "STRING", DIALECT).as_(f"c{place}") for place, value in enumerate(values.values())
    ]
    (row,) = session.rows(exp.select(*columns)).fetched().to_pylist()
    return zip(values, row.values(), strict=True)


def _is_literal(value: exp.Expression) -> bool:
    """Return whether a value is a literal, with a sign, with a type, or without."""
    while isinstance(value, exp.Cast | exp.Paren):
        value = value.this
    if isinstance(value, exp.Neg):
        return isinstance(value.this, exp.Literal) and not value.this.is_string
    return isinstance(value, exp.Literal | exp.Null | exp.Boolean)


def _is_null(value: exp.Expression) -> bool:
    """Return whether a value is written as NULL, with a type or without."""
    while isinstance(value, exp.Cast | exp.Paren):
        value = value.this
    return isinstance(value, exp.Null)


def _compared(text: exp.Expression, cast: exp.Expression, *, is_date: bool) -> tuple[exp.Expression, ...]:
    """The text of a value, that of its cast, and whether both are one moment where the column is a date."""
    same = exp.EQ(this=_try_cast(text, "TIMESTAMP"), expression=_try_cast(cast, "TIMESTAMP")) if is_date else exp.true()
    return text.copy(), exp.cast(cast.copy(), "STRING", DIALECT), same


def _try_cast(node: exp.Expression, kind: str) -> exp.TryCast:
    return exp.TryCast(this=node.copy(), to=exp.DataType.build(kind, dialect=DIALECT), safe=True)


def _is_kept(kind: pa.DataType, text: str, written: str | None, same: bool) -> bool:
    """Return whether the text `written` of a cast value has the digits that were given, all of them."""
    if written is None or not same:
        return False
    try:
        if pa.types.is_floating(kind):  # 0.1 is the same as FLOAT and DOUBLE
            return float(text) == float(written) or text.lower() == written.lower()
        exact = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        return not exact or Decimal(text) == Decimal(written)
    except (ValueError, InvalidOperation):
        return False


def _is_date(target: Target, name: str) -> bool:
    return bool(pa.types.is_date(target.column(name).type))


def _type(target: Target, name: str) -> str:
    return sql_type(target.column(name).type)
