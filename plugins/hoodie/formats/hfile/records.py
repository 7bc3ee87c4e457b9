"""Avro records that are the values of an HFile, as Arrow tables (format notes, sections 6.2 and 8.2)."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
import pyarrow as pa
from fastavro.schema import SchemaParseException

from hoodie.formats.avro_columns import AvroColumns, AvroColumnsError
from hoodie.formats.hfile.problems import corrupt
from hoodie.schema import avro_to_arrow

_KEY = "key"
_MOST = 500  # characters of an error


def decode_records(entries: pa.RecordBatch, schema: str, where: str) -> pa.Table:
    """The records of these entries, each an Avro value of `schema` (JSON; the file info and log blocks have it).

    Only the metadata table has such: Hudi leaves the column `key` of its records empty, here it is the entry's.
    Raises CorruptFileError naming `where`.
    """
    values = entries["value"]
    offsets = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values) + 1]
    ends = offsets.astype(np.int64)
    try:
        columns = _columns(schema)
    except (ValueError, KeyError, TypeError, RecursionError, SchemaParseException) as error:
        raise corrupt(where, f"records whose schema cannot be read: {error!r}"[:_MOST]) from None
    try:
        table = columns.decode(memoryview(values.buffers()[2] or b""), ends[:-1], ends[1:])
        keys = entries["key"].cast(pa.string())
    except (AvroColumnsError, pa.ArrowInvalid) as error:
        raise corrupt(where, f"records that are not of their schema: {error}") from None
    place = table.schema.get_field_index(_KEY)
    return table if place < 0 else table.set_column(place, table.schema.field(place), keys)


@lru_cache(maxsize=64)
def _columns(schema: str) -> AvroColumns:
    return AvroColumns(json.loads(schema), avro_to_arrow(schema, unions=True))
