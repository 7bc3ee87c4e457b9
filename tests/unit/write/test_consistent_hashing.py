"""`hoodie.index.bucket.engine=CONSISTENT_HASHING`: the file group of a row follows from the ring of its partition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hoodie import CLUSTERING, COMPACTION
from hoodie.errors import ConfigError, CorruptTableError, PendingInstantError, UnsupportedTableError, WriteConflictError
from hoodie.index.hashing import HashingMetadata
from hoodie.index.hashing_files import HASHING
from hoodie.services.clustering.unschedule import GiveUpClustering
from hoodie.timeline import Action
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.engines import OtherProcesses
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

COUNT = "hoodie.bucket.index.num.buckets"
ENGINE = "hoodie.index.bucket.engine"
OPTIONS = {**SMALL_BLOOM, "hoodie.index.type": "BUCKET", ENGINE: "CONSISTENT_HASHING", COUNT: 4}
FIRST = [(f"k{i}", "pq"[i % 2], 10, i) for i in range(20)]
STORED = {key: (part, ts, value) for key, part, ts, value in FIRST}


@pytest.fixture(params=["9", "6"])
def table(tmp_path, request):
    kind = {"hoodie.write.table.version": request.param, "hoodie.table.type": "MERGE_ON_READ"}
    made = create(tmp_path / "t", FakeClock(), engine=OtherProcesses(2), **kind)
    made.write(batch(FIRST), "upsert", OPTIONS)
    return made


def files(table, partition="part=p"):
    return Path(table.base_path, HASHING, partition)


def groups(table):
    return {(each.partition, each.file_id) for each in TableView(table.state()).latest()}


def everything(table):
    return {path: path.stat().st_mtime_ns for path in Path(table.base_path).rglob("*")}


def resize(table, instant, *, partition="part=p", keep=False):
    """Write the metadata of a resizing: other file groups, but for the last one if that is to `keep` its own."""
    nodes = json.loads((files(table, partition) / "00000000000000.hashing_meta").read_bytes())
    nodes |= {"instant": instant, "seqNo": 1}
    for number, node in enumerate(nodes["nodes"]):
        if not (keep and number == 3):
            node["fileIdPrefix"] = f"{number}" * 8 + node["fileIdPrefix"][8:]
    (files(table, partition) / f"{instant}.hashing_meta").write_text(json.dumps(nodes))


def test_rows_go_to_the_nodes_of_their_partition(table):
    of_ring = {(name, node.file_id) for name in ("part=p", "part=q") for node in HashingMetadata.first(name, 4).nodes}
    assert groups(table) <= of_ring
    table.write(
        batch([("k1", "q", 20, 100), ("k2", "p", 5, 100), ("new", "q", 1, 100)]), "upsert", {**OPTIONS, COUNT: 9}
    )
    now = STORED | {"k1": ("q", 20, 100), "new": ("q", 1, 100)}
    assert content(table) == now
    for operation, key in (("insert", "i"), ("bulk_insert", "b")):
        table.write(batch([(f"{key}{i}", "p", 1, 1) for i in range(9)]), operation, OPTIONS)
        now |= {f"{key}{i}": ("p", 1, 1) for i in range(9)}
    table.write(batch([("k4", "p", 0, 0), ("nothing", "r", 0, 0)]), "delete", OPTIONS)
    table.write(batch([("k6", "p", 0, 0)]), "delete", SMALL_BLOOM)
    del now["k4"], now["k6"]
    assert content(table) == now
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    table.write(batch([("k8", "p", 31, 2)]), "upsert", OPTIONS)
    assert content(table) == now | {"k8": ("p", 31, 2)}
    assert groups(table) <= of_ring


def test_each_partition_keeps_the_buckets_it_began_with(table):
    table.write(batch([("x", "new", 1, 1)]), "insert", {**OPTIONS, COUNT: 2})
    made = json.loads((files(table, "part=new") / "00000000000000.hashing_meta").read_bytes())
    assert made["numBuckets"] == len(made["nodes"]) == 2
    table.write(batch([(f"n{i}", "new", 1, 1) for i in range(30)]), "upsert", OPTIONS)
    assert len([each for each in groups(table) if each[0] == "part=new"]) == 2


@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert"])
@pytest.mark.parametrize(
    "other", [{"hoodie.index.type": "SIMPLE"}, {ENGINE: "SIMPLE"}, {"hoodie.index.type": "GLOBAL_SIMPLE"}]
)
def test_other_indexes_are_refused(table, operation, other):
    with pytest.raises(ConfigError, match="found by consistent hashing"):
        table.write(batch([("k1", "q", 20, 2)]), operation, {**OPTIONS, **other})
    assert content(table) == STORED


def test_overwrites_are_refused(tmp_path, table):
    for operation in ("insert_overwrite", "insert_overwrite_table"):
        for options in (OPTIONS, SMALL_BLOOM):
            with pytest.raises(UnsupportedTableError, match=r"no reader (sees|would see)"):
                table.write(batch([("k1", "q", 20, 2)]), operation, options)
    with pytest.raises(UnsupportedTableError, match=r"no reader (sees|would see)"):
        table.delete_partitions(["part=p"])
    fresh = create(tmp_path / "fresh", **{"hoodie.table.type": "MERGE_ON_READ"})
    with pytest.raises(ConfigError, match=r"no reader (sees|would see)"):
        fresh.write(batch(FIRST), "insert_overwrite_table", OPTIONS)
    assert content(table) == STORED


def test_a_partition_that_another_writer_has_dropped_takes_no_rows(table, monkeypatch):
    """Hudi accepts rows there, and its next upsert goes to file groups that no reader sees."""
    monkeypatch.setattr("hoodie.write.drop.refuse_replacing", lambda state: None)
    table.delete_partitions(["part=p"])
    with pytest.raises(UnsupportedTableError, match="was replaced"):
        table.write(batch([("k2", "p", 20, 2)]), "upsert", OPTIONS)
    table.write(batch([("k1", "q", 20, 2)]), "upsert", OPTIONS)
    assert content(table) == {key: row for key, row in STORED.items() if row[0] == "q"} | {"k1": ("q", 20, 2)}


def test_tables_of_another_index_are_refused(tmp_path):
    for other in ({}, {"hoodie.index.type": "BUCKET", COUNT: 4}):
        table = create(tmp_path / str(len(other)), **{"hoodie.table.type": "MERGE_ON_READ"})
        table.write(batch(FIRST), "upsert", {**SMALL_BLOOM, **other})
        with pytest.raises(ConfigError, match="written with another index"):
            table.write(batch(FIRST), "upsert", OPTIONS)


def test_a_partition_that_lost_its_metadata_is_refused(table):
    (files(table) / "00000000000000.hashing_meta").unlink()
    with pytest.raises(UnsupportedTableError, match="has file groups, and no consistent hashing"):
        table.write(batch([("k2", "p", 20, 2)]), "upsert", OPTIONS)
    (files(table) / "00000000000000.commit").touch()
    with pytest.raises(CorruptTableError, match=r"00000000000000.commit without"):
        table.write(batch([("k2", "p", 20, 2)]), "upsert", OPTIONS)
    assert content(table) == STORED


def test_other_columns_than_those_that_were_hashed_are_refused(tmp_path):
    kind = {"hoodie.table.recordkey.fields": "id,value", "hoodie.table.type": "MERGE_ON_READ"}
    table = create(tmp_path / "t", **kind)
    by_id = {**OPTIONS, "hoodie.bucket.index.hash.field": "id"}
    table.write(batch([("a:1,b", "p", 1, value) for value in range(9)]), "upsert", by_id)
    assert len(groups(table)) == 1
    with pytest.raises(ConfigError, match="columns that are hashed"):
        table.write(batch([("a", "p", 1, 1)]), "upsert", OPTIONS)


def test_a_resizing_counts_once_it_is_committed(table):
    """Until then rows live where the ring before it says. That of a compaction's time, as here, counts: and no file group of the
    table is one of its nodes."""
    upsert = (batch([("k2", "p", 20, 2)]), "upsert", OPTIONS)
    first = int(table.timeline.commits[0].time)
    table.write(*upsert)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    table.write(*upsert)
    before, (last, *_) = groups(table), reversed(table.timeline.commits)
    begun_since = str(int(last.time) + 10**9)
    taken_back = str(next(iter({*range(first, int(last.time))} - times(table))))
    resize(table, begun_since, keep=True)
    resize(table, taken_back)
    table.write(*upsert)
    assert groups(table) == before
    resize(table, taken_back, keep=True)
    with pytest.raises(UnsupportedTableError, match=f"{taken_back}.hashing_meta of a resizing that was rolled back"):
        table.write(*upsert)
    (files(table) / f"{taken_back}.hashing_meta").unlink()
    resize(table, last.time)
    table.write(*upsert)
    assert groups(table) == before, "only commits and replacecommits resize"
    compaction = next(each for each in table.timeline.commits if each.action.completed_as is Action.COMMIT)
    resize(table, compaction.time)
    with pytest.raises(UnsupportedTableError, match="is not a node"):
        table.write(*upsert)


def times(table):
    return {int(instant.time) for instant in table.timeline}


def test_a_resizing_that_waits_stays_with_hudi(table, monkeypatch):
    """Hudi's writers write to the file groups that are to be, too: a plan that is given up would leave these rows to readers."""
    with monkeypatch.context() as patched:
        patched.setattr("hoodie.services.clustering.plan.refuse_buckets", lambda state: None)
        table.schedule(CLUSTERING, force=True)
    waiting = table.timeline.pending[0].time
    before = everything(table)
    for operation, options in (("upsert", OPTIONS), ("delete", OPTIONS), ("delete", SMALL_BLOOM)):
        with pytest.raises(PendingInstantError, match="let Hudi carry that clustering out"):
            table.write(batch([("k2", "new", 20, 2)]), operation, options)
    assert everything(table) == before, (
        "neither is the metadata table switched off, which Hudi would make anew too early"
    )
    with pytest.raises(UnsupportedTableError, match="are buckets"):
        table.run(CLUSTERING)
    with pytest.raises(UnsupportedTableError, match=f"Clustering {waiting}.*splits or merges buckets"):
        table.run(GiveUpClustering(waiting))
    assert [each.time for each in table.timeline.pending] == [waiting]


def test_two_writers_of_one_new_bucket(tmp_path):
    table = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch(FIRST), "upsert", OPTIONS)
    options = {**OCC, **OPTIONS, "hoodie.write.num.retries.on.conflict.failures": 0}
    once = Rival(tmp_path / "t", lambda other: other.write(batch([("x", "new", 2, 2)]), "upsert", options)).begin()
    again = {**options, "hoodie.write.num.retries.on.conflict.failures": 1}
    twice = Rival(tmp_path / "t", lambda other: other.write(batch([("x", "new", 3, 3)]), "upsert", again)).begin()
    shared(tmp_path / "t").write(batch([("x", "new", 1, 1)]), "upsert", options)
    assert isinstance(once.finish(), WriteConflictError)
    assert twice.finish() is None
    assert content(shared(tmp_path / "t"))["x"] == ("new", 3, 3)
    assert len([each for each in groups(table) if each[0] == "part=new"]) == 1


def test_writers_at_once_go_by_the_metadata_that_was_first(tmp_path, monkeypatch):
    """They may ask for other numbers of buckets: two rings would have each key twice."""
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    made = HashingMetadata.first("part=p", 3)

    def nothing_yet(state, partition, base_files):
        files(table).mkdir(parents=True, exist_ok=True)
        (files(table) / "00000000000000.hashing_meta").write_bytes(made.encode())

    monkeypatch.setattr("hoodie.write.bucket_index.load_hashing", nothing_yet)
    table.write(batch([(f"n{i}", "p", 1, 1) for i in range(30)]), "upsert", OPTIONS)
    assert groups(table) == {("part=p", node.file_id) for node in made.nodes}
