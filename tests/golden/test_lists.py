"""Lists of two levels (`repeated <type> array`), as Hudi's Avro writer makes them by default: read right, and written on.

The tables are of Hudi 0.15.0 in a Spark that does not set `parquet.avro.write-old-list-structure`, one upsert each.
"""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import COMPACTION, HoodieTable

MAP = pa.map_(pa.string(), pa.list_(pa.int64()))
ROWS = {
    "simple": pa.table(
        {
            "id": ["1", "2"],
            "l": pa.array([[1, 2], None]),
            "s": pa.array([{"l": [1], "x": 1}, {"l": None, "x": 2}]),
            "ls": pa.array([[{"a": 1}], [{"a": 2}, {"a": 3}]]),
            "m": pa.array([[("k", [1])], []], MAP),
        }
    ),
    "ll": pa.table({"id": ["1"], "ll": pa.array([[[1], [2]]])}),
    "one": pa.table({"id": ["1"], "ls": pa.array([[{"element": 1}]])}),  # could be taken for a list of three levels
}


def rows(table, names):
    return table.select(names).sort_by("id").to_pylist()


@pytest.mark.parametrize("kind", ["copy_on_write", "merge_on_read"])
@pytest.mark.parametrize("name", ROWS)
def test_lists_of_two_levels(golden, tmp_path, name, kind):
    shutil.copytree(golden("15lists") / f"{name}_{kind}", tmp_path / "t")
    (file,) = (tmp_path / "t").rglob("*.parquet")
    parquet = pq.ParquetFile(file)
    paths = [parquet.schema.column(number).path for number in range(parquet.metadata.num_columns)]
    assert any("array" in path for path in paths)
    assert not any(".list." in path for path in paths)
    wanted = ROWS[name]
    table = HoodieTable.open(str(tmp_path / "t"))
    assert rows(table.read(), wanted.column_names) == wanted.to_pylist()
    more = pa.concat_tables([wanted.slice(0, 1), wanted.slice(0, 1).set_column(0, "id", pa.array(["9"]))])
    table.write(more, "upsert")
    expected = pa.concat_tables([wanted, more.slice(1)]).to_pylist()
    assert rows(table.read(), wanted.column_names) == expected
    if kind == "merge_on_read":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
        assert rows(table.read(), wanted.column_names) == expected
