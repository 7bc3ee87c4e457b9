"""Spark's errors of a statement, as errors of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from hoodie.errors import MissingFileError, SqlError
from hoodie.sql.parse import shortened

_MOST = 500  # characters of what Spark says
_MISSING_FILE = "FILE_NOT_EXIST"  # Spark's class of the error of its own reader


@contextmanager
def sql_errors(statement: str) -> Iterator[None]:
    """Turn any error of Spark in `statement` into a SqlError, or a MissingFileError where its own reader lacks a file."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _MISSING_FILE in str(error):
            raise MissingFileError(
                "A file is missing that Spark was to read",
                found=str(error).partition(_MISSING_FILE)[2].partition("\n")[0][:_MOST],
                fix="ask again, or run `hudi-services doctor` on the table if the file stays away",
            ) from error
        message = (
            str(error).partition("\n\n")[0].partition("\nJVM stacktrace")[0].partition(";\n")[0].strip()
        )  # then the plan
        raise SqlError(
            f"Spark cannot run: {shortened(statement)}",
            found=message[:_MOST] or type(error).__name__,
            fix="correct the statement",
        ) from error
