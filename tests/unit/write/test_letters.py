"""Columns named in letters of any script: as data, key, ordering and partition column."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from tests.support.clock import FakeClock


def rows(values):
    keys, regions, times, sizes = zip(*values, strict=True)
    parts = {"größe": pa.array(sizes, pa.int64()), "preço": pa.array([None] * len(sizes), pa.decimal128(9, 2))}
    return pa.table(
        {"ключ": keys, "区域": regions, "época": times, "maß": pa.StructArray.from_arrays(parts.values(), parts.keys())}
    )


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("hive_style", ["true", "false"])
def test_a_table_of_them(tmp_path, kind, version, hive_style):
    options = {
        "hoodie.table.name": "продажи",
        "hoodie.table.type": kind,
        "hoodie.write.table.version": version,
        "hoodie.table.recordkey.fields": "ключ",
        "hoodie.table.partition.fields": "区域",
        "hoodie.table.ordering.fields": "época",
        "hoodie.datasource.write.hive_style_partitioning": hive_style,
    }
    table = HoodieTable.create(str(tmp_path), options, clock=FakeClock())
    table.write(rows([("a", "北", 1, 1), ("b", "南", 1, 2)]), "upsert")
    table.write(rows([("a", "北", 2, 3), ("b", "南", 0, 9), ("c", "北", 1, 4)]), "upsert")
    table.write(rows([("c", "北", 2, 4)]), "delete")
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        assert table.run(COMPACTION)
    found = HoodieTable.open(str(tmp_path)).read(columns=["ключ", "区域", "maß"]).sort_by("ключ").to_pylist()
    assert [(row["ключ"], row["区域"], row["maß"]["größe"]) for row in found] == [("a", "北", 3), ("b", "南", 2)]
    assert {piece.partition for piece in table.file_slices()} == (
        {"区域=北", "区域=南"} if hive_style == "true" else {"北", "南"}
    )
