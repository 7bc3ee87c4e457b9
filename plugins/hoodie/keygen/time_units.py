"""Partition columns whose times a key generator takes for others: microseconds for milliseconds make folders of the year 57974.

Hudi does that in silence, and tables that have such folders must get more of the same. In a new table they would be a mistake.
"""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa

from hoodie.config.properties.timebased import options_for
from hoodie.errors import ConfigError
from hoodie.keygen.partition_path import PartitionPaths
from hoodie.schema import find_field

_MOMENT = datetime(2026, 1, 1)


def misread_times(paths: PartitionPaths, columns: pa.Schema) -> ConfigError | None:
    """The error that a new table with rows of these columns is; None when all is well."""
    for name in sorted(paths.timestamp_fields):
        field = find_field(columns, name)
        holds = _holds(field.type) if field is not None else None
        if paths.timestamps is None or field is None or holds is None:
            continue
        how = paths.timestamps.options.misreads(holds)
        if how is not None:
            value: date = _MOMENT if holds == "timestamp" else _MOMENT.date()
            kind = pa.timestamp("us") if holds == "timestamp" else field.type
            [folder] = paths.timestamps.read(pa.chunked_array([pa.array([value], kind)]), name)[0].to_pylist()
            goes = f"would go to the folder {folder}" if folder is not None else "have no folder"
            return ConfigError(
                f"The key generator takes the times of partition column {name!r} for others",
                found=f"{how}: rows of {_MOMENT:%Y-%m-%d} {goes}",
                fix=f"create the table with {options_for(holds)}",
            )
    return None


def _holds(kind: pa.DataType) -> str | None:
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return "date" if pa.types.is_date32(kind) else None
