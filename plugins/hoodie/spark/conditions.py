"""Conditions on one column that Spark's optimizer found in a query, in its own types, as conditions of Arrow.

Only those are taken that mean the same in both: equality, order and sets of whole numbers, text, dates and truth values.
"""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import SparkSession

_COMPARED: dict[str, Callable[[Any, Any], pc.Expression]] = {
    "EqualTo": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
}


@dataclass(frozen=True)
class Condition:
    """Condition on one column."""

    column: str
    expression: pc.Expression


def translated(spark: SparkSession, filters: Any) -> tuple[Condition, ...]:
    """Those of a scan's filters, a sequence of Catalyst's expressions that all hold, which mean the same to Arrow."""
    execution: Any = spark._jvm.org.apache.spark.sql.execution
    strategy = getattr(getattr(execution.datasources, "DataSourceStrategy$"), "MODULE$")  # its Scala object
    result = []
    for node in map(filters.apply, range(filters.size())):
        option = strategy.translateFilter(node, False)
        condition = _condition(option.get()) if option.isDefined() else None
        if condition is not None:
            result.append(condition)
    return tuple(result)


def _condition(predicate: Any) -> Condition | None:
    kind = predicate.getClass().getSimpleName()
    if kind in _COMPARED:
        value = _value(predicate.value())
        return None if value is None else Condition(predicate.attribute(), _COMPARED[kind](_field(predicate), value))
    if kind == "In":
        values = [_value(value) for value in predicate.values()]
        if values and all(value is not None for value in values):
            return Condition(predicate.attribute(), _field(predicate).isin(values))
    return None


def _field(predicate: Any) -> pc.Expression:
    return pc.field(predicate.attribute())


def _value(value: Any) -> int | str | datetime.date | None:
    """None for values of other types, which are left to Spark alone."""
    if isinstance(value, bool | int | str):
        return value
    kind = value.getClass().getName() if hasattr(value, "getClass") else ""
    if kind in ("java.sql.Date", "java.time.LocalDate"):
        return datetime.date.fromisoformat(str(value.toString()))
    return None
