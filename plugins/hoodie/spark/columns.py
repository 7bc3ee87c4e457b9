"""The columns of a DataFrame as Arrow has them when its rows reach Python."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """The schema of the batches of `mapInArrow`: times with a zone are in the session's."""
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    return to_arrow_schema(frame.schema, timezone=zone)
