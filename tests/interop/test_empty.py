"""Tables without rows: created but never written, or with every row deleted. Hudi reads them and writes on."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.rows import rows

pytestmark = pytest.mark.interop

ROWS = pa.table({"id": ["1", "2", "3"], "part": ["a", "a", "b"], "ts": pa.array([1, 2, 3], pa.int64())})
CASES = pytest.mark.parametrize(
    ("version", "partitions"), [("9", "part"), ("6", "")], ids=["9 partitioned", "6 not partitioned"]
)


def create(path, version, partitions, schema=None):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": partitions,
        "hoodie.table.ordering.fields": "ts",
        "hoodie.write.table.version": version,
    }
    return HoodieTable.create(str(path), options, schema)


def check_hudi_reads_nothing_and_writes_on(hudi, table, partitions):
    empty = hudi.read(table.base_path)
    assert empty.num_rows == 0
    assert set(ROWS.schema.names) <= set(empty.schema.names)
    keygen = "SimpleKeyGenerator" if partitions else "NonpartitionedKeyGenerator"
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": partitions,
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{keygen}",
        "hoodie.write.table.version": str(table.version),
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
    }
    hudi.write(table.base_path, ROWS.slice(0, 2), options)
    assert rows(table.read()) == rows(hudi.read(table.base_path)) == rows(ROWS.slice(0, 2))
    table.write(ROWS.slice(1, 2), "upsert")
    assert rows(table.read()) == rows(hudi.read(table.base_path)) == rows(ROWS)


@CASES
def test_a_table_that_was_never_written(tmp_path, hudi12, version, partitions):
    table = create(tmp_path / "t", version, partitions, ROWS.schema)
    assert table.read().num_rows == 0
    check_hudi_reads_nothing_and_writes_on(hudi12, table, partitions)


@CASES
def test_a_table_whose_rows_were_all_deleted(tmp_path, hudi12, version, partitions):
    table = create(tmp_path / "t", version, partitions)
    table.write(ROWS, "upsert")
    table.write(ROWS.set_column(2, "ts", pa.array([9] * 3, pa.int64())), "delete")
    assert table.read().num_rows == 0
    check_hudi_reads_nothing_and_writes_on(hudi12, table, partitions)
