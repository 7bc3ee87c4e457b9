"""The rows that a Hudi table has of some keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.dataset import HoodieDataset
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import conform, top_level
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeRows


def rows_of_keys(
    table: HoodieTable, state: TableState, keyed: pa.Table, rows_of: ChangeRows, names: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the rows that the table has with record keys of `keyed`: their keys, partition paths and the columns `names`.

    `keyed` has the columns of the record key, too. One read finds them all: it looks into files that may have such keys only.
    """
    schema = table.stored_schema or pa.schema([])
    fields = [schema.field(name) for name in top_level(rows_of.keys.fields) if name in schema.names]
    if not keyed.num_rows or not fields:
        return
    # Values that do not fit into the stored type become others, which the keys leave out below.
    chosen = [pc.field(one.name).isin(pc.unique(keyed[one.name].cast(one.type, safe=False))) for one in fields]
    properties = state.properties
    located_by = top_level((*properties.record_key_fields, *properties.partition_fields))
    read = list(dict.fromkeys([*located_by, *names]))
    record_keys = keyed[RECORD_KEY].combine_chunks()
    for batch in HoodieDataset(table, state=state).to_batches(read, reduce(and_, chosen)):
        rows = pa.Table.from_batches([batch])
        stored = conform(rows.select(rows_of.stored.names), rows_of.stored)
        columns = {RECORD_KEY: rows_of.keys.of(stored), PARTITION_PATH: rows_of.paths.of(stored)}
        key_rows = pa.table({**columns, **{name: rows[name] for name in names}})
        yield key_rows.filter(pc.is_in(key_rows[RECORD_KEY], value_set=record_keys))
