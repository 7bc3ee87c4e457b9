"""Log blocks of some columns, as Hudi's MERGE INTO writes them; our writer makes none."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie import HoodieTable
from hoodie.formats.log import Header, encode_block, read_rows, scan_blocks
from hoodie.model.meta_columns import META_COLUMNS


def update_some(table: HoodieTable, rows: pa.Table, columns: Sequence[str], options: dict[str, object]) -> str:
    """Upsert `rows`, of which only `columns` count. Returns the completion time of the commit."""
    done = table.write(rows, "upsert", options)
    for stat in done.metadata.stats:
        assert stat.log is not None, "an update of stored rows goes to a log"
        path = stat.path
        (block,) = scan_blocks(table.storage, path)
        found = pa.concat_tables(read_rows(table.storage, block))
        kept = [name for name in found.schema.names if name in META_COLUMNS or name in columns]
        schema = json.loads(block.headers[Header.SCHEMA])
        schema["fields"] = [field for field in schema["fields"] if field["name"] in kept]
        headers = {**block.headers, Header.SCHEMA: json.dumps(schema), Header.IS_PARTIAL: "true"}
        sink = pa.BufferOutputStream()
        pq.write_table(found.select(kept), sink)
        table.storage.delete(path)
        table.storage.create(path, encode_block(block.kind, headers, sink.getvalue().to_pybytes()))
    return done.instant.completion_time
