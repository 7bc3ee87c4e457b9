"""Reads of no columns: they have as many rows as the table."""

from __future__ import annotations

import pytest

from hoodie.dataset import HoodieDataset
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("meta", ["true", "false"])
def test_a_read_without_columns_has_all_rows(meta, table_type, tmp_path):
    table = create(
        tmp_path / "t", **{"hoodie.populate.meta.fields": meta, "hoodie.datasource.write.table.type": table_type}
    )
    index = SMALL_BLOOM if meta == "true" else {"hoodie.index.type": "SIMPLE"}
    table.write(batch([(f"k{number}", "p" if number < 3 else "q", 1, number) for number in range(5)]), "insert", index)
    table.write(batch([("k1", "p", 2, 7), ("new", "p", 2, 7)]), "upsert", index)
    table.write(batch([("k4", "q", 2, 7)]), "delete", index)
    rows = HoodieDataset(table)
    assert table.read(columns=[]).num_rows == 5
    assert table.read(columns=[], filter="part = 'p' and value <> 7").num_rows == 2
    assert (rows.to_table(columns=[]).num_rows, rows.scanner(columns=[]).count_rows()) == (5, 5)
    if meta == "true":
        assert table.read_incremental(table.timeline.commits[0].completion_time, columns=[]).num_rows == 2
