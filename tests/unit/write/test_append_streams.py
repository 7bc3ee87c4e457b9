"""Streams that append: inserts without keys, with the services beside that keep files and timeline few."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from tests.support.faulty import FaultyStorage

SERVICES = {
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": "2",
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "4",
    "hoodie.keep.max.commits": "6",
}
PACKED = {"hoodie.parquet.small.file.limit": str(1 << 20)}
CLUSTERED = {
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.clustering.inline": "true",
    "hoodie.clustering.inline.max.commits": "5",
}


@pytest.mark.parametrize("how", [PACKED, CLUSTERED], ids=["packed", "clustered"])
@pytest.mark.parametrize(
    "commits", [24, pytest.param(300, marks=pytest.mark.deep("an hour of batches takes a minute"))]
)
def test_micro_batches_stay_level(tmp_path, how, commits):
    """Inserts, or a clustering after some of them, pack small files. Late batches make no more storage calls than early ones."""
    table = HoodieTable.create(tmp_path / "log", {"hoodie.table.name": "log"})
    calls = []
    for number in range(commits):
        storage = FaultyStorage(tmp_path / "log")
        rows = pa.table({"ts": np.arange(10) + 10 * number})
        done = HoodieTable(storage, LocalEngine(1)).write(rows, "insert", {**SERVICES, **how})
        assert not [each for each in done.services if each.failed]
        calls.append(storage.calls)
    stored = np.sort(table.read()["ts"].to_numpy())
    assert np.array_equal(stored, np.arange(10 * commits)), "each row once"
    assert len(table.file_slices()) <= 6
    assert len(list((tmp_path / "log").glob("*.parquet"))) <= 14
    assert len(list((tmp_path / "log/.hoodie/timeline").glob("*"))) < 120
    third = commits // 3
    assert max(calls[-third:]) <= 1.3 * max(calls[third : 2 * third])
