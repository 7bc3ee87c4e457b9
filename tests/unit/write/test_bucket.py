"""`hoodie.index.type=BUCKET`: the file group of a row follows from its key; as measured with Hudi 1.2.0."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pyarrow as pa
import pytest

from hoodie import COMPACTION
from hoodie.errors import ConfigError, UnsupportedTableError, WriteConflictError
from hoodie.index.buckets import Buckets, bucket_of
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.engines import OtherProcesses
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

COUNT = "hoodie.bucket.index.num.buckets"
BUCKET = {**SMALL_BLOOM, "hoodie.index.type": "BUCKET", COUNT: 4}
FIRST = [(f"k{i}", "pq"[i % 2], 10, i) for i in range(20)]
STORED = {key: (part, ts, value) for key, part, ts, value in FIRST}


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def kind(request):
    return request.param


@pytest.fixture
def table(tmp_path, version, kind):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    made.write(batch(FIRST), "upsert", BUCKET)
    return made


def slices(table):
    return TableView(table.state()).latest()


def check_places(table, count=4):
    """Each key is in the file group of its bucket, and each bucket has one file group at most."""
    groups = [(each.partition, bucket_of(each.file_id)) for each in slices(table)]
    assert max(Counter(groups).values()) == 1
    rows = table.read(columns=["_hoodie_record_key", "_hoodie_file_name"])
    told = [bucket_of(name[:36]) for name in rows["_hoodie_file_name"].to_pylist()]
    assert Buckets(count, ("id",), ("id",)).of(rows["_hoodie_record_key"]).tolist() == told


def test_upserts_and_deletions(table):
    check_places(table)
    done = table.write(batch([("k1", "q", 20, 100), ("k2", "p", 5, 100), ("new", "q", 1, 100)]), "upsert", BUCKET)
    now = STORED | {"k1": ("q", 20, 100), "new": ("q", 1, 100)}
    assert content(table) == now
    assert done.rows_combined == 0
    table.write(batch([("k4", "p", 0, 0), ("nothing", "r", 0, 0)]), "delete", BUCKET)
    del now["k4"]
    assert content(table) == now
    rows = batch([("k6", "p", 30, 1), ("k8", "p", 30, 1)]).append_column("gone", pa.array([True, False]))
    table.write(rows, "upsert", BUCKET, deletions="gone")
    del now["k6"]
    now["k8"] = ("p", 30, 1)
    assert content(table) == now
    check_places(table)
    if table.properties.is_merge_on_read:
        table.run(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
        assert content(table) == now
        table.write(batch([("k8", "p", 31, 2), ("more", "p", 31, 2)]), "upsert", BUCKET)
        assert content(table) == now | {"k8": ("p", 31, 2), "more": ("p", 31, 2)}
        check_places(table)


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_inserts_go_to_buckets(table, operation):
    table.write(batch([(f"n{i}", "pr"[i % 2], 1, i) for i in range(20)]), operation, BUCKET)
    check_places(table)
    assert len(content(table)) == 40
    table.write(batch([("k1", "q", 11, 0)]), operation, BUCKET)
    assert table.read().num_rows == (40 if table.properties.is_merge_on_read else 41), (
        "as Hudi: a log replaces, a file adds"
    )
    streamed = pa.RecordBatchReader.from_batches(batch([]).schema, batch([("s", "z", 1, 1)]).to_batches())
    table.write(streamed, operation, BUCKET)
    check_places(table)


def test_overwrites_make_buckets(table):
    table.write(batch([("x", "p", 1, 1)]), "insert_overwrite", BUCKET)
    check_places(table)
    table.write(batch([("x", "p", 2, 2), ("y", "p", 2, 2)]), "upsert", BUCKET)
    assert {key: row for key, row in content(table).items() if row[0] == "p"} == {"x": ("p", 2, 2), "y": ("p", 2, 2)}
    table.write(batch([("z", "p", 1, 1)]), "insert_overwrite_table", {**BUCKET, COUNT: 7})
    table.write(batch([("z", "p", 2, 2)]), "upsert", {**BUCKET, COUNT: 7})
    assert content(table) == {"z": ("p", 2, 2)}


def test_another_number_of_buckets_is_refused(table):
    before = list(table.timeline.commits)
    for count, operation in product((2, 3, 8, 256), ("upsert", "insert", "bulk_insert", "delete")):
        with pytest.raises(ConfigError, match=rf"num.buckets={count}.*nothing was written"):
            table.write(batch([("k1", "q", 20, 2)]), operation, {**BUCKET, COUNT: count})
    assert list(table.timeline.commits) == before
    assert content(table) == STORED


@pytest.mark.parametrize("other", ["SIMPLE", "GLOBAL_SIMPLE"])
def test_writes_beside_buckets_are_refused(table, other):
    for operation in ("upsert", "insert", "bulk_insert", "insert_overwrite"):
        with pytest.raises(ConfigError, match="whose file groups are buckets"):
            table.write(batch([("k1", "q", 20, 2)]), operation, {**SMALL_BLOOM, "hoodie.index.type": other})
    table.write(batch([("k1", "q", 20, 2)]), "delete", {**SMALL_BLOOM, "hoodie.index.type": other})
    assert "k1" not in content(table)


def test_tables_without_buckets_are_refused(tmp_path, kind, monkeypatch):
    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    table.write(batch(FIRST), "upsert", SMALL_BLOOM)
    for operation in ("upsert", "insert_overwrite"):
        with pytest.raises(ConfigError, match="whose file groups are not buckets"):
            table.write(batch(FIRST), operation, BUCKET)
    monkeypatch.setattr(
        "hoodie.write.layout_checks.is_bucketed", lambda state: True
    )  # as after a write of another's elsewhere
    with pytest.raises(UnsupportedTableError, match="is not a bucket"):
        table.write(batch(FIRST), "upsert", BUCKET)
    assert len(content(table)) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, "merge-on-read tables alone"),
        ({"hoodie.index.bucket.engine": "ROUND"}, "SIMPLE or CONSISTENT_HASHING"),
        ({COUNT: 0}, "from 1 to 10000"),
        ({COUNT: 10_001}, "from 1 to 10000"),
        ({"hoodie.bucket.index.hash.field": "value"}, "not a key column"),
        ({"hoodie.bucket.index.partition.expressions": "p,8"}, "is refused"),
        ({"hoodie.datasource.insert.dup.policy": "drop"}, "does not go with hoodie.index.type=BUCKET"),
    ],
)
def test_what_is_not_here(tmp_path, options, message):
    table = create(tmp_path / "t")
    with pytest.raises(ConfigError, match=message):
        table.write(batch(FIRST), "insert", {**BUCKET, **options})


def test_keys_of_several_columns_and_virtual_ones(tmp_path, kind):
    options = {"hoodie.table.recordkey.fields": "id,value", "hoodie.table.type": kind}
    table = create(tmp_path / "t", engine=OtherProcesses(2), **options)
    by_id = {**BUCKET, "hoodie.bucket.index.hash.field": "id"}
    table.write(batch([("a:1,b", "p", 1, value) for value in range(9)]), "upsert", by_id)
    assert len(slices(table)) == 1
    table.write(batch([("a:1,b", "p", 2, value) for value in range(10)]), "upsert", by_id)
    assert table.read().num_rows == 10
    with pytest.raises(ConfigError, match="or the columns that are hashed"):
        table.write(batch([("a", "p", 1, 1)]), "upsert", BUCKET)
    virtual = create(tmp_path / "v", **{"hoodie.table.type": kind, "hoodie.populate.meta.fields": "false"})
    virtual.write(batch(FIRST), "upsert", BUCKET)
    virtual.write(batch([("k1", "q", 20, 2)]), "upsert", BUCKET)
    assert content(virtual) == STORED | {"k1": ("q", 20, 2)}


@pytest.mark.parametrize("operation", ["insert", "upsert", "bulk_insert"])
def test_two_writers_of_one_new_bucket(tmp_path, kind, operation):
    """Neither touches a file group of the other, and a bucket with two file groups could not be written any more."""
    table = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": kind})
    table.write(batch(FIRST), "upsert", BUCKET)
    options = {**OCC, **BUCKET, COUNT: 4, "hoodie.write.num.retries.on.conflict.failures": 0}
    once = Rival(tmp_path / "t", lambda other: other.write(batch([("x", "new", 2, 2)]), operation, options)).begin()
    again = {**options, "hoodie.write.num.retries.on.conflict.failures": 1}
    twice = Rival(tmp_path / "t", lambda other: other.write(batch([("x", "new", 3, 3)]), operation, again)).begin()
    shared(tmp_path / "t").write(batch([("x", "new", 1, 1)]), "upsert", options)
    error = once.finish()
    assert isinstance(error, WriteConflictError)
    assert "file group of bucket" in str(error)
    assert twice.finish() is None
    check_places(shared(tmp_path / "t"))


def test_numbers_of_buckets_by_partition_are_refused(table):
    """Hudi keeps them in files. A new partition would get another number than Hudi's writers take."""
    with pytest.raises(ConfigError, match=r"hoodie\.bucket\.index\.partition\.expressions is refused"):
        table.write(batch(FIRST), "upsert", BUCKET | {"hoodie.bucket.index.partition.expressions": "p,8"})
    config = ".hoodie/.bucket_index/partition_bucket_index_meta/configs/00000000000000.hashing_config"
    table.storage.create(config, b"{}")
    for operation in ("upsert", "delete", "bulk_insert", "insert_overwrite"):
        with pytest.raises(UnsupportedTableError, match="numbers of buckets of their own"):
            table.write(batch([("n", "new", 1, 1)]), operation, BUCKET)
    assert content(table) == STORED
