"""Rows of a Hudi table of several tables are counted by the table that they are of."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.cdc.mysql.equality.shards import rows_by_table


def test_rows_are_counted_by_their_table_also_those_without_one():
    rows = pa.table(
        {"_source_database": ["d", "d.e", "d", None], "_source_table": ["t", "f", "t", "t"], "v": [1, 2, 3, 4]}
    )
    assert rows_by_table(rows) == {"d.t": 2, "d.e.f": 1, "": 1}
    assert rows_by_table(rows.slice(0, 0)) == {}
    assert rows_by_table(rows.to_batches()[0]) == rows_by_table(rows)
