"""Ordering fields of type text: Avro log blocks are read right by everybody, Parquet ones are not by Hudi 1.2.0."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from tests.interop.rows import rows
from tests.interop.test_compaction import call as hudi_compaction

pytestmark = pytest.mark.interop
KEYS = [f"k{n:03}" for n in range(60)]


class History:
    """Random rows ordered by text of changing length, and the rows that remain after them."""

    def __init__(self) -> None:
        self._choose = random.Random(3)
        self.expected: dict[str, tuple] = {}

    def batch(self, count: int = 35) -> pa.Table:
        keys = self._choose.sample(KEYS, count)
        texts = ["".join(self._choose.choices("abcdé", k=self._choose.randrange(1, 12))) for _ in keys]
        numbers = [self._choose.randrange(1000) for _ in keys]
        for row in zip(keys, numbers, texts, strict=True):
            # Letters compare as their bytes do: in both, é is the last.
            if row[0] not in self.expected or row[2] >= self.expected[row[0]][2]:
                self.expected[row[0]] = row
        return pa.table({"id": keys, "n": pa.array(numbers, pa.int64()), "text": texts})

    @property
    def rows(self) -> list[tuple]:
        return sorted(self.expected.values())


def options(version, blocks="avro"):
    return {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": "text",
        "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.logfile.data.block.format": blocks,
        "hoodie.metadata.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
    }


def both_ways(hudi, path, version, hudi_rs_read=None):
    ours = HoodieTable.create(
        str(path),
        {
            "hoodie.table.name": "t",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.ordering.fields": "text",
            "hoodie.write.table.version": version,
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        },
    )
    history = History()
    ours.write(history.batch(60), "insert")
    for _ in range(2):
        ours.write(history.batch(), "upsert")
        assert rows(ours.read()) == rows(hudi.read(path)) == history.rows
        hudi.write(path, history.batch(), options(version))
        assert rows(ours.read()) == rows(hudi.read(path)) == history.rows
    if hudi_rs_read is not None:
        assert rows(hudi_rs_read(path)) == history.rows
    hudi_compaction(hudi, ours, "scheduleAndExecute")
    assert not any(file_slice.log_files for file_slice in ours.file_slices())
    assert rows(ours.read()) == rows(hudi.read(path)) == history.rows


@pytest.mark.format("7.3f")
@pytest.mark.parametrize("version", ["9", "6"])
def test_with_hudi_12(tmp_path, hudi12, hudi_rs_read, version):
    both_ways(hudi12, tmp_path / "t", version, hudi_rs_read)


@pytest.mark.format("7.3f")
def test_with_hudi_15(tmp_path, hudi15):
    both_ways(hudi15, tmp_path / "t", "6")


@pytest.mark.format("7.3f")
def test_why_not_parquet(tmp_path, hudi12, recorded):
    """Hudi misreads what it wrote itself; we read it right, and so does Hudi once we compacted it."""
    path, history, hudis = tmp_path / "t", History(), recorded("hudi12")
    hudis.write(path, history.batch(60), options("9", "parquet"), "overwrite")
    hudis.write(path, history.batch(), options("9", "parquet"))
    ours = HoodieTable.open(hudis.table(path))
    assert rows(ours.read()) == history.rows != rows(hudis.read(path))
    ours.schedule(COMPACTION, force=True)
    ours.run(COMPACTION)
    assert rows(hudi12.read(path)) == history.rows
