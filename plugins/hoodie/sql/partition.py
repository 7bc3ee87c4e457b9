"""Partitions that a statement names by values of their columns."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from hoodie.dataset import HoodieDataset
from hoodie.errors import SqlError
from hoodie.sql.changes import Target, partitions_query
from hoodie.sql.engine import Rows
from hoodie.sql.parse import DIALECT
from hoodie.sql.session import Session
from hoodie.sql.types import sql_type


def named_partitions(
    session: Session, target: Target, values: Mapping[str, exp.Expression], dataset: HoodieDataset
) -> Rows:
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
    return session.rows(partitions_query(target, partition_casts(session, target, values)), [dataset])


def partition_casts(
    session: Session, target: Target, values: Mapping[str, exp.Expression]
) -> dict[str, exp.Expression]:
    """The values in the types of their columns, each by way of its text, as Spark does.

    Raises SqlError for a value that its cast makes null, another number, or another time.
    """
    texts = {name: exp.cast(value.copy(), "STRING", DIALECT) for name, value in values.items()}
    casts = {name: exp.cast(text.copy(), _type(target, name), DIALECT) for name, text in texts.items()}
    for name, value in values.items():
        cast, lost = casts[name], exp.and_(value.copy().is_(exp.null()).not_(), casts[name].copy().is_(exp.null()))
        widest = _widest(target.column(name).type)
        if widest is not None:
            written = exp.cast(cast.copy(), "STRING", DIALECT)  # 0.1 has the same digits as FLOAT and DOUBLE
            given, kept = (exp.cast(each.copy(), widest, DIALECT) for each in (texts[name], written))
            lost = exp.or_(lost, exp.NEQ(this=given, expression=kept))
        (is_lost,) = session.rows(exp.select(lost.as_("lost"))).fetched()["lost"].to_pylist()
        if is_lost:
            raise SqlError(
                f"A value cannot be stored in partition column {name} of type {_type(target, name)}",
                found=value.sql(dialect=DIALECT),
                fix="give a value of that type; nothing was changed",
            )
    return casts


def _type(target: Target, name: str) -> str:
    return sql_type(target.column(name).type)


def _widest(kind: pa.DataType) -> str | None:
    """The type in which a value is compared with its cast; None where a cast is exact or null."""
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return "DECIMAL(38, 10)"
    return "DOUBLE" if pa.types.is_floating(kind) else "TIMESTAMP" if pa.types.is_date(kind) else None
