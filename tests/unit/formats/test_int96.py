"""Base files with INT96 timestamps keep dates that nanoseconds cannot hold."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import COMPACTION
from tests.support.tables import batch, create

FAR, NEAR = datetime(9999, 12, 31, tzinfo=UTC), datetime(1600, 1, 1, tzinfo=UTC)
MOMENT = pa.timestamp("us", "UTC")


def with_moments(ids, moments):
    column = pa.array(moments, MOMENT)
    rows = batch([(name, "p", 1, 1) for name in ids]).append_column("at", column)
    return rows.append_column("of", pa.StructArray.from_arrays([column], ["at"]))


def moments_of(table):
    return {row["id"]: (row["at"], row["of"]["at"]) for row in table.read().to_pylist()}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_far_dates_of_base_files_survive_reads_and_writes(tmp_path, monkeypatch, kind):
    table = create(tmp_path, **{"hoodie.table.type": kind})
    with monkeypatch.context() as patch:
        patch.setattr(pq, "ParquetWriter", partial(pq.ParquetWriter, use_deprecated_int96_timestamps=True))
        table.write(with_moments(["a", "b"], [FAR, NEAR]))
    (path,) = tmp_path.glob("part=p/*.parquet")
    assert "int96" in str(pq.ParquetFile(path).schema)
    assert moments_of(table) == {"a": (FAR, FAR), "b": (NEAR, NEAR)}
    table.write(with_moments(["b"], [FAR]), "upsert")
    if kind == "MERGE_ON_READ":
        table.run(COMPACTION, options={"hoodie.compact.inline.max.delta.commits": 1})
    assert moments_of(table) == {"a": (FAR, FAR), "b": (FAR, FAR)}
