"""The five meta columns of rows that a write adds (format notes, section 5.1)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.write.context import WriteContext


class Stamp:
    """Stamps the rows of one task; sequence numbers go on from call to call."""

    def __init__(self, context: WriteContext, number: int, file_name: str) -> None:
        """`number` is the task's place in the write; `file_name` goes into `_hoodie_file_name`."""
        self._context = context
        self._number = number
        self._file_name = file_name
        self._counter = 0

    def rows(self, rows: pa.Table) -> pa.Table:
        """Rows of this write in the file's schema, meta columns first."""
        count = rows.num_rows
        numbers = pc.cast(pa.array(np.arange(self._counter, self._counter + count)), pa.string())
        self._counter += count
        seqno = pc.binary_join_element_wise(f"{self._context.instant}_{self._number}", numbers, "_")
        meta = {
            COMMIT_TIME: pa.repeat(self._context.instant, count),
            COMMIT_SEQNO: seqno,
            RECORD_KEY: rows[RECORD_KEY],
            PARTITION_PATH: rows[PARTITION_PATH],
            FILE_NAME: pa.repeat(self._file_name, count),
        }
        columns = [meta[name] if name in meta else rows[name] for name in self._context.file_schema.names]
        return pa.table(columns, schema=self._context.file_schema)


def renamed(rows: pa.Table, name: str) -> pa.Table:
    """Rows that move keep their commit time and sequence number, but name their new file (format notes, section 5.1)."""
    position = rows.schema.get_field_index(FILE_NAME)
    return rows.set_column(position, rows.schema.field(position), pa.repeat(name, rows.num_rows))
