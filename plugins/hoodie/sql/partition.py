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

_WIDEST = "DECIMAL(38, 10)"


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
    casts = {name: exp.cast(value.copy(), _type(target, name), DIALECT) for name, value in values.items()}
    _refuse_lost(session, target, values, casts)
    return session.rows(partitions_query(target, casts), [dataset])


def _refuse_lost(
    session: Session, target: Target, values: Mapping[str, exp.Expression], casts: Mapping[str, exp.Expression]
) -> None:
    """Raises SqlError for a value that its cast makes null, or another number."""
    for name, value in values.items():
        cast, lost = casts[name], exp.and_(value.copy().is_(exp.null()).not_(), casts[name].copy().is_(exp.null()))
        if _is_exact_number(target.column(name).type):
            given, kept = (exp.cast(each.copy(), _WIDEST, DIALECT) for each in (value, cast))
            lost = exp.or_(lost, exp.NEQ(this=given, expression=kept))
        (is_lost,) = session.rows(exp.select(lost.as_("lost"))).fetched()["lost"].to_pylist()
        if is_lost:
            raise SqlError(
                f"A value cannot be stored in partition column {name} of type {_type(target, name)}",
                found=value.sql(dialect=DIALECT),
                fix="give a value of that type; nothing was changed",
            )


def _type(target: Target, name: str) -> str:
    return sql_type(target.column(name).type)


def _is_exact_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))
