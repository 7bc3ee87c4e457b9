"""The meta columns of rows that a write adds (format notes, section 5.1)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME, PARTITION_PATH, RECORD_KEY


class Stamp:
    """Stamps the rows of one task; sequence numbers go on from call to call."""

    def __init__(self, instant: str, number: int, schema: pa.Schema) -> None:
        """`number` is the task's place in the write; `schema` is that of the file without the columns that are constant in it."""
        self._instant = instant
        self._number = number
        self._schema = schema
        self._counter = 0

    def rows(self, rows: pa.Table) -> pa.Table:
        """Rows of this write in the schema, meta columns first."""
        count = rows.num_rows
        meta = {RECORD_KEY: rows[RECORD_KEY], PARTITION_PATH: rows[PARTITION_PATH]}
        if COMMIT_SEQNO in self._schema.names:
            numbers = pc.cast(pa.array(np.arange(self._counter, self._counter + count)), pa.string())
            meta[COMMIT_SEQNO] = pc.binary_join_element_wise(f"{self._instant}_{self._number}", numbers, "_")
        self._counter += count
        if COMMIT_TIME in self._schema.names:
            meta[COMMIT_TIME] = pa.repeat(self._instant, count)
        columns = [meta[name] if name in meta else rows[name] for name in self._schema.names]
        return pa.table(columns, schema=self._schema)
