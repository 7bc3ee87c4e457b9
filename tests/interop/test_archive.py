"""We read Hudi's archive as Hudi reads it, and incremental queries give its rows, for tables of either writer."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import HoodieTable
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.timeline import WRITE_ACTIONS
from tests.interop.recording import RecordedPeer
from tests.interop.rows import rows
from tests.support.matrix import pairwise, sample

pytestmark = pytest.mark.interop

COLUMNS = ["id", "part", "ts", "price"]


def table_of(ids, value):
    return pa.table(
        {
            "id": pa.array(ids),
            "part": pa.array([f"p{int(i[1:]) % 2}" for i in ids]),
            "ts": pa.array([value] * len(ids), pa.int64()),
            "price": pa.array([float(value)] * len(ids)),
        }
    )


STEPS = [
    (["k0", "k1", "k2", "k3"], "insert"),
    (["k0", "k1"], "upsert"),
    (["k2"], "upsert"),
    (["k3"], "delete"),
    (["k0", "k4"], "upsert"),
    (["k1"], "upsert"),
    (["k0"], "upsert"),
]


def theirs(hudi: RecordedPeer, path, version, kind, steps=STEPS, keep=2):
    """A table that Hudi wrote; without compactions it archives delta commits whose logs are all still needed."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.table.timeline.timezone": "UTC",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.compact.inline.max.delta.commits": "1",
        "hoodie.clean.commits.retained": "1",
        "hoodie.clean.automatic": "false",
        "hoodie.timeline.compaction.batch.size": "2",
        "hoodie.keep.min.commits": str(keep),
        "hoodie.keep.max.commits": str(keep + 1),
    }
    for number, (ids, operation) in enumerate(steps):
        options["hoodie.datasource.write.operation"] = operation
        hudi.write(path, table_of(ids, number), options, mode="append" if number else "overwrite")
    return HoodieTable.open(hudi.table(path))


def ours(_, path, version, kind, steps, keep):
    table = HoodieTable.create(
        str(path),
        {
            "hoodie.table.name": "trips",
            "hoodie.table.type": kind,
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.ordering.fields": "ts",
            "hoodie.table.partition.fields": "part",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.write.table.version": version,
        },
    )
    for number, (ids, operation) in enumerate(steps):
        table.write(table_of(ids, number), operation)
    return table


def bounds(table, start, end=None):
    """Begin and end as the times at which commits count, and the options with which Hudi reads that range."""
    options = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": start}
    if end is not None:
        options["hoodie.datasource.read.end.instanttime"] = end
    return (start, end), options


def check_archived(peer, table):
    state = table.state()
    archived = [instant for instant in state.archive.instants() if instant.action in WRITE_ACTIONS]
    assert len(archived) >= 3
    assert len(archived) + len(state.timeline.commits) == len(STEPS)
    expected = rows(peer.read(table.base_path), COLUMNS)
    assert rows(table.read(), COLUMNS) == expected
    assert [row[0] for row in expected] == ["k0", "k1", "k2", "k4"]
    [row] = table.read(columns=[*COLUMNS, COMMIT_TIME], filter=pc.field("id") == "k2").to_pylist()
    assert row[COMMIT_TIME] == archived[2].time, "its log's commit is archived, and the log still counts"

    times = [i.time if table.version == 6 else i.completion_time for i in (*archived, *state.timeline.commits)]
    found = [rows(table.read_incremental(start), ["id", "ts"]) for start in times]
    assert found[0] == [("k0", 6), ("k1", 5), ("k2", 2), ("k4", 4)]
    assert found[1] == [("k0", 6), ("k1", 5), ("k2", 2), ("k4", 4)]
    assert found[2] == [("k0", 6), ("k1", 5), ("k4", 4)]
    assert found[-2:] == [[("k0", 6)], []]
    assert rows(table.read_incremental(times[0], times[2]), ["id", "ts"]) == [("k0", 1), ("k1", 1), ("k2", 2)]
    assert rows(table.read(as_of=archived[0].time), ["id", "ts"]) == [(f"k{n}", 0) for n in range(4)]
    for start in range(len(archived), len(times)):
        moments, options = bounds(table, times[start])
        assert rows(table.read_incremental(*moments), COLUMNS) == rows(peer.read(table.base_path, **options), COLUMNS)


@pytest.mark.parametrize("version", sample(["9", "6"], 0))
def test_logs_of_archived_delta_commits(tmp_path, recorded, version):
    hudi = recorded("hudi12")
    table = theirs(hudi, tmp_path / "t", version, "MERGE_ON_READ")
    check_archived(hudi, table)
    if version == "9":
        files = {instant.file_name for instant in table.state().archive.instants()}
        assert any(name.endswith("_1.parquet") for name in files), "Hudi merged files of its history"


def test_logs_of_archived_delta_commits_of_hudi_15(tmp_path, recorded):
    hudi = recorded("hudi15")
    check_archived(hudi, theirs(hudi, tmp_path / "t", "6", "MERGE_ON_READ"))


RANGES = [(0, None), (0, 1), (0, 3), (1, 2), (2, 3), (2, 4)]  # the fourth commit only deletes


@pytest.mark.parametrize(
    ("write", "kind", "version"), pairwise([theirs, ours], ["COPY_ON_WRITE", "MERGE_ON_READ"], ["9", "6"])
)
def test_incremental_queries(tmp_path, request, recorded, version, kind, write):
    hudi = recorded("hudi12") if write is theirs else request.getfixturevalue("hudi12")
    table = write(hudi, tmp_path / "t", version, kind, STEPS[:5], keep=20)
    commits = table.timeline.commits
    times = [i.time if version == "6" else i.completion_time for i in commits]
    for start, end in RANGES:
        moments, options = bounds(table, times[start], None if end is None else times[end])
        found = rows(table.read_incremental(*moments), COLUMNS)
        assert found == rows(hudi.read(table.base_path, **options), COLUMNS), (start, end)
        assert bool(found) is ((start, end) != (2, 3))
