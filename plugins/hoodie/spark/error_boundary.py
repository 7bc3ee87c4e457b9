"""The edge of the library on Spark: what Spark raises in a call of a user's is a HoodieError too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hoodie.error_boundary import call
from hoodie.errors import ArgumentError, EngineError, check_argument

_RAISED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+$", re.MULTILINE)
_MOST = 500  # characters of what Spark says


@contextmanager
def spark_call(doing: str, *, changes: bool = False) -> Iterator[None]:
    """As `call`, and any error of Spark is an EngineError: an invalid query, a job that failed. Later errors, when the user
    runs a DataFrame, stay Spark's."""
    with call(doing, changes=changes):
        try:
            yield
        except (PySparkException, Py4JError) as error:
            raise EngineError(
                f"Spark failed while {doing}",
                found=_message(str(error)) or type(error).__name__,
                fix=f"look at Spark's own error, the cause of this one; {_effect(changes)}",
            ) from error


def check_session(spark: object) -> None:
    """Raises ArgumentError for anything but a session of this process that runs."""
    check_argument("spark", spark, "a SparkSession; one of Spark Connect cannot do this", SparkSession)
    assert isinstance(spark, SparkSession)
    if spark.sparkContext._jsc is None:
        raise ArgumentError("The Spark session was stopped", fix="make another one: SparkSession.builder.getOrCreate()")


def _effect(changes: bool) -> str:
    return "nothing half done is visible" if changes else "nothing was changed"


def _message(text: str) -> str:
    """The last error of a worker's Python, or the first line."""
    raised = _RAISED.findall(text)
    return str(raised[-1] if raised else text.strip().partition("\n")[0])[:_MOST]
