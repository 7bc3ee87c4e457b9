"""`hoodie.index.type=BLOOM` and `GLOBAL_BLOOM`: what SIMPLE and GLOBAL_SIMPLE find, from fewer files."""

from __future__ import annotations

import random
import re
from collections import Counter

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hoodie.formats.murmur import murmur2
from hoodie.index import key_filter
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.engines import OtherProcesses
from tests.support.matrix import diagonal, pairwise
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
BLOOM = {**NO_SMALL_FILES, "hoodie.index.type": "BLOOM"}
GLOBAL = {**NO_SMALL_FILES, "hoodie.index.type": "GLOBAL_BLOOM"}
RANGES = "hoodie.bloom.index.prune.by.ranges"


KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


def filled(path, kind, files=8, rows=400, keys=lambda i: f"{i:06}", **options):
    """`files` base files of `rows` rows in each of two partitions."""
    storage = CountingStorage(str(path))
    table = create(storage, FakeClock(), **{"hoodie.table.type": kind, **options})
    for number in range(files):
        some = range(number * rows, (number + 1) * rows)
        table.write(batch([(keys(i), "pq"[i % 2], 1, 1) for i in some]), "insert", NO_SMALL_FILES)
    return table, storage


def times_opened(storage, write):
    """How often each base file was opened in `write`, by falling count."""
    storage.opened.clear()
    write()
    counts = Counter(path for path in storage.opened if path.endswith(".parquet"))
    return sorted(counts.values(), reverse=True)


@pytest.mark.parametrize(
    ("index", "kind", "version", "ranges"), pairwise((BLOOM, GLOBAL), KINDS, ("9", "6"), ("true", "false"))
)
def test_the_same_rows_as_simple(tmp_path, kind, version, index, ranges):
    rng = random.Random(ranges)
    chosen = {**index, RANGES: ranges}
    other = {**index, "hoodie.index.type": "GLOBAL_SIMPLE" if index is GLOBAL else "SIMPLE"}
    tables = [
        create(tmp_path / name, **{"hoodie.table.type": kind, "hoodie.write.table.version": version}) for name in "ab"
    ]
    keys = ["a", "Z", "ключ", "😀", "ﬀ", "0", "~", *(f"k{i}" for i in range(30))]
    for step in range(8):
        some = rng.sample(keys, 6)
        place = "pqr" if index is GLOBAL else "p"
        rows = batch([(key, rng.choice(place), rng.randint(0, step + 1), step) for key in some])
        operation = rng.choice(["upsert", "upsert", "delete"])
        for table, options in zip(tables, (chosen, other), strict=True):
            table.write(rows, operation, options)
        assert content(tables[0]) == content(tables[1]), step


@pytest.mark.parametrize(("index", "looked_at", "random_keys"), diagonal([(BLOOM, 8), (GLOBAL, 16)], [True, False]))
def test_only_files_that_may_hold_the_keys_are_read(tmp_path, caplog, kind, index, looked_at, random_keys):
    """By their ranges where keys ascend, by their filters where they are anywhere."""

    def key(number):
        return murmur2(pa.array([str(number)]), 0).tolist()[0] if random_keys else number

    caplog.set_level("INFO")
    table, storage = filled(tmp_path / "t", kind, keys=lambda i: f"{key(i):012}")
    before = content(table)
    row = (f"{key(1001):012}", "q", 9, 9)
    counts = times_opened(storage, lambda: table.write(batch([row]), "upsert", index))
    rewritten = kind == "COPY_ON_WRITE"
    assert counts == [3 if rewritten else 2, *[1] * (looked_at - 1)], "a footer of each, keys and rows of one"
    assert content(table) == before | {row[0]: row[1:]}
    told = [record.message for record in caplog.records if record.message.startswith("Index ")]
    line = rf"keys of 1 of {looked_at} file slices read, whose files have [0-9,]+ bytes; left out by key range (\d+), by \D+(\d+)"
    by_range, by_filter = map(int, re.search(line, told[-1]).groups())
    assert by_range + by_filter == looked_at - 1
    assert (by_filter if random_keys else by_range) >= looked_at - 2
    counts = times_opened(storage, lambda: table.write(batch([("new", "q", 9, 9)]), "upsert", index))
    merged = kind == "MERGE_ON_READ" and index is GLOBAL
    assert counts == [2 if merged else 1, *[1] * (looked_at - 1)], "footers, and a slice that has logs by now"


def test_keys_that_logs_brought_are_found(tmp_path, version):
    """Hudi's writers with other indexes insert there; BLOOM in Hudi does not see it."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(tmp_path / "t", **options)
    buckets = {**SMALL_BLOOM, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 1}
    table.write(batch([("a", "p", 1, 1)]), "upsert", buckets)
    table.write(batch([("b", "p", 1, 1)]), "upsert", buckets)
    table.write(batch([("b", "p", 1, 1), ("a", "p", 1, 1)]), "delete", BLOOM)
    assert content(table) == {}


def test_more_keys_than_are_held(tmp_path, kind, monkeypatch):
    table, _ = filled(tmp_path / "t", kind, files=2, rows=20)
    monkeypatch.setattr(key_filter, "_MOST_BYTES", 50)
    before = content(table)
    rows = [(key, part, 2, 2) for key, (part, _, _) in before.items()]
    for index in (BLOOM, GLOBAL):
        done = table.write(batch(rows), "upsert", index)
        assert (done.rows_inserted, table.read().num_rows) == (0, 40)


def test_keys_in_order():
    keys = key_filter.KeysInOrder.of(pa.array(["b", "a", "ключ", "c", "a", "~"]))
    assert keys.within("a", "b").to_pylist() == ["a", "b", "ключ"]
    assert keys.within("aa", "az").to_pylist() == ["ключ"]
    assert keys.within("d", "a").to_pylist() == ["ключ"]
    assert keys.within("x", "я").to_pylist() == ["a", "b", "c", "~", "ключ"], "Java's order is another one"


def test_virtual_keys_have_no_filters(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.populate.meta.fields": "false"})
    for index in (BLOOM, GLOBAL):
        with pytest.raises(ConfigError, match="has virtual keys"):
            table.write(batch([("a", "p", 1, 1)]), "upsert", index)


def test_other_processes(tmp_path, kind):
    table = create(tmp_path / "t", engine=OtherProcesses(2), **{"hoodie.table.type": kind})
    for index in (BLOOM, GLOBAL):
        table.write(batch([(f"k{i}", "p", 1, 1) for i in range(50)]), "upsert", index)
    assert len(content(table)) == 50


@pytest.mark.parametrize("moves", [True, False])
def test_keys_move_unless_they_are_not_to(tmp_path, kind, moves):
    options = {
        **GLOBAL,
        "hoodie.bloom.index.update.partition.path": moves,
        "hoodie.simple.index.update.partition.path": not moves,
    }
    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    table.write(batch([("a", "p", 1, 1), ("b", "p", 5, 1)]), "upsert", options)
    table.write(batch([("a", "q", 2, 2), ("b", "q", 4, 2)]), "upsert", options)
    assert content(table) == {"a": ("q" if moves else "p", 2, 2), "b": ("p", 5, 1)}
