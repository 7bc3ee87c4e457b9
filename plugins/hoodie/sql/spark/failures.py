"""Spark's errors of a statement, as errors of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from hoodie.errors import SqlError
from hoodie.sql.parse import shortened

_MOST = 500  # characters of what Spark says


@contextmanager
def sql_errors(statement: str) -> Iterator[None]:
    """Turn any error of Spark in `statement` into a SqlError."""
    try:
        yield
    except PySparkException as error:
        message = (
            str(error).partition("\n\n")[0].partition("\nJVM stacktrace")[0].partition(";\n")[0].strip()
        )  # then the plan
        raise SqlError(
            f"Spark cannot run: {shortened(statement)}",
            found=message[:_MOST] or type(error).__name__,
            fix="correct the statement",
        ) from error
