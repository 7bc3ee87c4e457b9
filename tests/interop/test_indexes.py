"""Indexes: Hudi 1.2.0 and we write one table in turns, with the same index. Each key is there once."""

from __future__ import annotations

import random
from itertools import product

import pytest

from hoodie import CLUSTERING
from hoodie.errors import ConfigError, UnsupportedTableError
from tests.interop.test_cow import hudi_options
from tests.support.matrix import DEEP, sample
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.interop

FIRST = [("a", "p", 10, 1), ("b", "p", 10, 1), ("c", "q", 10, 1), ("d", "p", 10, 1)]
STEPS = [
    ("upsert", [("a", "q", 20, 2), ("b", "q", 5, 2), ("c", "q", 20, 2), ("n", "q", 1, 2)]),
    ("delete", [("c", "p", 1, 9)]),
    ("upsert", [("d", "q", 10, 3), ("n", "p", 0, 3)]),
    ("upsert", [("a", "p", 30, 4), ("c", "p", 1, 5)]),
    ("upsert", [("a", "r", 31, 6), ("x", "p", 5, 5), ("x", "q", 7, 6)]),
    ("delete", [("a", "p", 31, 6)]),
    ("upsert", [("a", "q", 2, 7), ("c", "q", 2, 7)]),
]
LAST = {"a": ("q", 2, 7), "b": ("p", 10, 1), "c": ("q", 2, 7), "d": ("q", 10, 3), "n": ("q", 1, 2), "x": ("q", 7, 6)}


def seen(rows, partitions=True):
    """Without `partitions`: Hudi shows those of the folder, where its own rows may name others."""
    found = {row["id"]: (row["part"] if partitions else "", row["ts"], row["value"]) for row in rows.to_pylist()}
    assert len(found) == rows.num_rows, "a key stands more than once"
    return found


def hudis(table, operation, **more):
    """Without a metadata table, which Hudi makes from all files again after each write of ours: other tests have it."""
    own = {"hoodie.clean.automatic": "false", "hoodie.metadata.enable": "false"}
    own["hoodie.datasource.write.operation"] = operation
    return hudi_options(table, True) | own | more


# Three choices of two each: these four hold every pair, and each takes half a minute.
PAIRS = [
    ("COPY_ON_WRITE", "9", True),
    ("COPY_ON_WRITE", "6", False),
    ("MERGE_ON_READ", "9", False),
    ("MERGE_ON_READ", "6", True),
]


@pytest.mark.parametrize(
    ("kind", "version", "moves"), sample([(*pair, str(moves).lower()) for *pair, moves in PAIRS], 3)
)
def test_global_simple_in_turns(tmp_path, hudi12, kind, version, moves):
    """Without moves Hudi itself stores a key twice if it was deleted in a log, inserted again in another partition, and then
    written once more (the last step).
    """
    options = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": moves}
    for first in range(2 if DEEP else 1):  # who has the odd steps
        name = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
        table = create(tmp_path / str(first), **name)
        table.write(batch(FIRST), "upsert", {**SMALL_BLOOM, **options})
        for number, (operation, rows) in enumerate(STEPS if moves == "true" else STEPS[:-1]):
            if number % 2 == first:
                table.write(batch(rows), operation, {**SMALL_BLOOM, **options})
            else:
                hudi12.write(table.base_path, batch(rows), hudis(table, operation, **options))
            if number % 2 == first or number >= len(STEPS) - 2:  # Hudi reads ours, and we what it made of them
                theirs = hudi12.read(table.base_path)
                assert seen(table.read(), moves == "true") == seen(theirs, moves == "true"), number
        assert moves == "false" or seen(theirs) == LAST


BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "7"}


def bucket_rows(numbers, ts):
    signs = ["k{}", "ключ-{}", "😀{}", "a,b{}", "a:b{}", "{}"]
    return [(signs[i % 6].format(i), "pq"[i % 2], ts, ts) for i in numbers]


@pytest.mark.parametrize(("kind", "version", "ours_first"), sample(PAIRS, 0))
def test_buckets_in_turns(tmp_path, hudi12, kind, version, ours_first):
    """Hundreds of keys: each is where both look for it."""
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    steps = [
        ("insert", range(300)),
        ("upsert", range(200, 400)),
        ("upsert", range(100, 300)),
        ("delete", range(150, 180)),
        ("delete", range(30)),
        ("insert", range(400, 450)),
        ("upsert", range(450)),
        ("upsert", range(460)),
    ]
    expected = {}
    for number, (operation, some) in enumerate(steps):
        rows = bucket_rows(some, number)
        ours = (number % 2 == 0) == ours_first
        if ours:
            table.write(batch(rows), operation, {**SMALL_BLOOM, **BUCKET})
        else:
            hudi12.write(table.base_path, batch(rows), hudis(table, operation, **BUCKET))
        for key, *rest in rows:
            expected.pop(key, None) if operation == "delete" else expected.update({key: tuple(rest)})
        assert seen(table.read()) == expected, number
        if ours or number == len(steps) - 1:
            assert seen(hudi12.read(table.base_path)) == expected, number
    assert len({name[:8] for name in table.read(columns=["_hoodie_file_name"])["_hoodie_file_name"].to_pylist()}) == 7


HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "4",
    "hoodie.bucket.index.max.num.buckets": "8",
    "hoodie.bucket.index.min.num.buckets": "2",
}
_CLUSTERING = "org.apache.hudi.client.clustering"
RESIZING = {
    "hoodie.clustering.inline": "true",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.plan.strategy.class": f"{_CLUSTERING}.plan.strategy.SparkConsistentBucketClusteringPlanStrategy",
    "hoodie.clustering.execution.strategy.class": f"{_CLUSTERING}.run.strategy.SparkConsistentBucketClusteringExecutionStrategy",
    "hoodie.clustering.updates.strategy": f"{_CLUSTERING}.update.strategy.SparkConsistentBucketDuplicateUpdateStrategy",
}
SPLITTING = RESIZING | {"hoodie.bucket.index.split.threshold": "0.000001"}


@pytest.mark.parametrize(("version", "ours_first"), sample([("9", False), ("6", True)], 1))
def test_consistent_hashing_in_turns(tmp_path, hudi12, version, ours_first):
    """Both find rows of the other, make the metadata of new partitions, and use a ring that Hudi has split and merged, while that
    is on the timeline and marked, and when it is neither.
    """
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"})
    steps = [
        ("insert", range(100), {}),
        ("upsert", range(50, 150), {}),
        ("upsert", range(150), {}),
        ("upsert", range(20, 60), SPLITTING),
        ("delete", range(30), {}),
        ("upsert", range(160), {}),
        ("insert", range(160, 200), RESIZING),
        ("upsert", range(200), {}),
        ("upsert", range(200), {}),
    ]
    expected = {}
    for number, (operation, some, services) in enumerate(steps):
        rows = bucket_rows(some, number)
        if number % 3 == 2:
            rows += [(f"n{number}-{each}", f"new-{number}", number, number) for each in range(5)]
        ours = (not services and (number % 2 == 0) == ours_first) or number in (4, 7)
        if ours:
            table.write(batch(rows), operation, {**SMALL_BLOOM, **HASHING})
        else:
            hudi12.write(table.base_path, batch(rows), hudis(table, operation, **HASHING, **services))
        for key, *rest in rows:
            expected.pop(key, None) if operation == "delete" else expected.update({key: tuple(rest)})
        assert seen(table.read()) == expected, number
        if ours or number == len(steps) - 1:
            assert seen(hudi12.read(table.base_path)) == expected, number


def test_consistent_hashing_after_an_overwrite_takes_no_rows(tmp_path, hudi12):
    """Hudi writes to file groups that it has replaced, where neither it nor anybody else sees the rows."""
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    rows = [(f"k{number}", "p", 1, 1) for number in range(20)]
    table.write(batch([*rows, ("q", "q", 1, 1)]), "upsert", {**SMALL_BLOOM, **HASHING})
    hudi12.write(table.base_path, batch(rows[:1]), hudis(table, "insert_overwrite", **HASHING))
    with pytest.raises(UnsupportedTableError, match="is not a node"):
        table.write(batch([("k3", "p", 3, 3)]), "upsert", {**SMALL_BLOOM, **HASHING})
    hudi12.write(table.base_path, batch(rows), hudis(table, "upsert", **HASHING))
    assert set(seen(hudi12.read(table.base_path))) == {"k0", "q"}, "Hudi has lost the others"
    table.write(batch([("q", "q", 2, 2)]), "upsert", {**SMALL_BLOOM, **HASHING})
    assert seen(table.read())["q"] == ("q", 2, 2)
    for operation in ("upsert", "insert", "bulk_insert"):
        with pytest.raises(ConfigError, match="consistent hashing"):
            table.write(batch([("q", "q", 3, 3)]), operation, SMALL_BLOOM)
    for operation in ("insert_overwrite", "insert_overwrite_table"):
        with pytest.raises(UnsupportedTableError, match="consistent hashing"):
            table.write(batch([("q", "q", 3, 3)]), operation, {**SMALL_BLOOM, **HASHING})
    with pytest.raises(UnsupportedTableError, match="consistent hashing"):
        table.delete_partitions(["part=q"])
    with pytest.raises(UnsupportedTableError, match="are buckets"):
        table.schedule(CLUSTERING, force=True)


def test_buckets_of_keys_of_several_columns(tmp_path, hudi12):
    """Values with colons and commas, empty ones and nulls; a ring joins them, where the number of a bucket hashes each."""
    for index, field in (
        (BUCKET, "id"),
        (BUCKET, "id,kind"),
        (BUCKET, "kind"),
        (HASHING, "kind"),
        (HASHING, "id,kind"),
    ):
        options = {**index, "hoodie.bucket.index.hash.field": field}
        keys = {"hoodie.table.recordkey.fields": "id,kind", "hoodie.table.type": "MERGE_ON_READ"}
        table = create(tmp_path / f"{len(index)}-{field.replace(',', '-')}", **keys)

        def rows(ts, field=field):
            some = batch([(["x{}", "a:1,b:{}", "c,{}"][i % 3].format(i), "p", ts, ts) for i in range(100)])
            colons = "kind" in field  # else Hudi 1.2.0 looks for the end of that value for ever
            kinds = [f"{i % 9}:y" if colons and i % 5 == 0 else f"z{i}" for i in range(100)]
            kinds[::7], kinds[1::7] = [None] * 15, [""] * 15
            return some.append_column("kind", [kinds])

        table.write(rows(1), "upsert", {**SMALL_BLOOM, **options})
        hudi12.write(table.base_path, rows(2), hudis(table, "upsert", **options))
        assert set(seen(table.read()).values()) == {("p", 2, 2)}
        table.write(rows(3), "upsert", {**SMALL_BLOOM, **options})
        assert set(seen(table.read()).values()) == {("p", 3, 3)}


@pytest.mark.parametrize(
    ("index", "kind"), sample(product(["BLOOM", "GLOBAL_BLOOM"], ["COPY_ON_WRITE", "MERGE_ON_READ"]), 3)
)
def test_bloom_in_turns(tmp_path, hudi12, kind, index):
    """Each finds by the footers of the other: keys in and between their ranges, and keys that move."""
    options = {"hoodie.index.type": index, "hoodie.parquet.small.file.limit": "0"}
    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    place = "pqr" if index == "GLOBAL_BLOOM" else "p"
    signs = ["k{:03}", "ключ-{}", "😀{}", "ﬀ{}"]
    for step in range(6):
        some = random.Random(step).sample(range(60), 20)
        rows = [(signs[i % 4].format(i), place[(i + step) % len(place)], step, step) for i in some]
        operation = "delete" if step == 3 else "upsert"
        if step % 2:
            hudi12.write(table.base_path, batch(rows), hudis(table, operation, **options))
        else:
            table.write(batch(rows), operation, {**SMALL_BLOOM, **options})
        if step % 2 == 0 or step == 5:  # each such read sees the step before, too
            assert seen(table.read()) == seen(hudi12.read(table.base_path)), step
