"""Merge-on-read tables that we write are Hudi's own: it merges our logs, appends its own, and we go on after it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.rows import rows
from tests.interop.test_cow import hudi_options, make_table
from tests.support.matrix import sample

pytestmark = pytest.mark.interop


def mor_history(path, version, ordering):
    """Base files, logs with updates (late ones too), deletions by key and by flag, a key deleted and inserted again."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.write.table.version": version,
    }
    if ordering:
        options["hoodie.table.ordering.fields"] = "ts"
    ours = HoodieTable.create(str(path), options)

    def table(*columns, deleted=None):
        flags = pa.array(deleted or [False] * len(columns[0]))
        return make_table(*columns).append_column("_hoodie_is_deleted", flags)

    ours.write(table([f"k{i}" for i in range(20)], [10] * 20, [1.0] * 20), "bulk_insert")
    ours.write(table(["k1", "k2", "k3", "k4"], [20, 5, 10, 30], [2.0, 2.0, 2.0, 2.0]), "upsert")
    ours.write(table(["k5", "k6"], [0, 0], [0, 0]), "delete")
    ours.write(table(["k7", "k8", "k9"], [11, 9, 12], [0, 0, 3.0], deleted=[True, True, False]), "upsert")
    ours.write(table(["k5", "k30"], [1, 1], [4.0, 4.0]), "upsert")
    return ours, table


CASES = [("9", True), ("9", False), ("6", True)]


@pytest.mark.format("7.1h", "7.3a", "7.3c", "14b", "14g")
@pytest.mark.parametrize(("version", "ordering"), sample(CASES, 1))
def test_hudi_12_reads_and_writes_on(tmp_path, hudi12, hudi_rs_read, version, ordering):
    ours, table = mor_history(tmp_path / "t", version, ordering)
    assert any(file_slice.log_files for file_slice in ours.file_slices())
    expected = rows(ours.read())
    assert rows(hudi12.read(ours.base_path)) == expected
    assert rows(hudi_rs_read(ours.base_path)) == expected

    options = hudi_options(ours, ordering) | {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    change = table(["k1", "k9", "k70"], [30, 1, 30], [5.0, 5.0, 5.0])
    hudi12.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    gone = table(["k10"], [99], [0.0])
    hudi12.write(ours.base_path, gone, {**options, "hoodie.datasource.write.operation": "delete"})
    assert rows(ours.read()) == rows(hudi12.read(ours.base_path))

    ours.write(table(["k1", "k11", "k71"], [40, 40, 40], [6.0, 6.0, 6.0]), "upsert")
    for metadata in ("true", "false"):
        assert rows(hudi12.read(ours.base_path, **{"hoodie.metadata.enable": metadata})) == rows(ours.read())
    assert rows(hudi_rs_read(ours.base_path)) == rows(ours.read())


@pytest.mark.format("7.3b", "14b")
def test_hudi_15_reads_and_writes_on_version_6(tmp_path, hudi15):
    ours, table = mor_history(tmp_path / "t", "6", True)
    assert rows(hudi15.read(ours.base_path)) == rows(ours.read())
    options = hudi_options(ours, True) | {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    change = table(["k1", "k9", "k70"], [30, 1, 30], [5.0, 5.0, 5.0])
    hudi15.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    assert rows(ours.read()) == rows(hudi15.read(ours.base_path))
    ours.write(table(["k1", "k11", "k71"], [40, 40, 40], [6.0, 6.0, 6.0]), "upsert")
    assert rows(hudi15.read(ours.base_path)) == rows(ours.read())


@pytest.mark.parametrize("version", ["9", "6"])
def test_groups_that_began_with_a_log(tmp_path, hudi12, version):
    """Hudi's in-memory index inserts into logs: such a group misses no base file, as its first log shows."""
    ours = HoodieTable.create(
        str(tmp_path / "t"),
        {
            "hoodie.table.name": "trips",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.partition.fields": "part",
            "hoodie.table.ordering.fields": "ts",
            "hoodie.write.table.version": version,
        },
    )
    options = hudi_options(ours, True) | {"hoodie.index.type": "INMEMORY", "hoodie.metadata.enable": "false"}
    for ts in (1, 2):
        change = make_table([f"k{ts}", "k9"], [ts, ts], [1.0, 1.0])
        hudi12.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    slices = ours.file_slices()
    assert slices
    assert all(file_slice.base_file is None for file_slice in slices)
    assert rows(ours.read()) == rows(hudi12.read(ours.base_path))
    state = ours.state()
    first = {stat.file_id: stat for stat in state.commit_metadata(state.timeline.commits[0]).stats}
    assert all(first[s.file_id].num_inserts for s in slices if s.file_id in first), "so no further commit is read"
