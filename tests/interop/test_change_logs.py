"""Logs of changes: Hudi reads those that the library writes, and both write to one table in turns."""

from __future__ import annotations

import json
from itertools import product

import pyarrow as pa
import pytest

from hoodie import CLEAN, CLUSTERING, COMPACTION, Restore
from tests.support.changes import Follower, write
from tests.support.clock import FakeClock
from tests.support.matrix import diagonal, sample
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.interop

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
MODES = ("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER")
QUERY = {
    "hoodie.datasource.query.type": "incremental",
    "hoodie.datasource.query.incremental.format": "cdc",
    "hoodie.metadata.enable": "false",
}
HUDI = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.metadata.enable": "false",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
}


def ours(table, start=None):
    """(instant, op, id, value before, value after) of each change."""
    return sorted(
        (row["_hoodie_commit_time"], row["op"], *_images(row["before"], row["after"]))
        for row in table.read_changes(start).to_pylist()
    )


def theirs(hudi, table, start="000"):
    """The same of Hudi's answer, without rows that were written again as they were."""
    found = hudi.read(table.base_path, **QUERY, **{"hoodie.datasource.read.begin.instanttime": start}).to_pylist()
    rows = [
        (row["ts_ms"], row["op"], *_images(*(json.loads(row[side] or "null") for side in ("before", "after"))))
        for row in found
    ]
    return sorted(row for row in rows if row[3] != row[4])


def _images(before, after):
    image = after or before
    return image["id"], *(str(each["value"]) if each else "" for each in (before, after))


@pytest.mark.parametrize(("kind", "mode"), diagonal(KINDS, MODES))
def test_both_write_and_read_in_turns(tmp_path, hudi12, kind, mode):
    options = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, **options})
    follower = Follower(table)
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    write(table, [("d", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("e", "q", 1, 1)])
    write(table, [("b", "p", 1, 0)], "delete")
    write(table, [("a", "p", 1, 9), ("e", "q", 3, 3)])
    assert ours(table) == theirs(hudi12, table)
    follower.follow()
    hudi_options = {**HUDI, **options, "hoodie.datasource.write.table.type": kind}
    hudi12.write(
        table.base_path,
        batch([("a", "p", 7, 7), ("f", "p", 7, 7)]),
        {**hudi_options, "hoodie.datasource.write.operation": "upsert"},
    )
    write(table, [("a", "p", 8, 8), ("c", "q", 8, 8)])
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        assert table.run(COMPACTION, SMALL_BLOOM)
        write(table, [("a", "p", 9, 9)])
    write(table, [("a", "p", 1, 1)], "insert_overwrite")
    follower.follow()
    follower.check()
    assert ours(table) == theirs(hudi12, table)


def cleaned(table):
    assert (
        bool(table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted) != table.properties.is_merge_on_read
    )


def clustered(table):
    table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.sort.columns": "value"}, force=True)
    assert table.run(CLUSTERING, SMALL_BLOOM)


def compacted(table):
    table.schedule(COMPACTION, force=True)
    assert table.run(COMPACTION, SMALL_BLOOM)


def restored(table):
    """To before the last commit, which Hudi wrote."""
    table.run(Restore(table.timeline.commits[-2].time))


def widened(table):
    table.write(wider([("g", "p", 1, 1)]), "upsert", SMALL_BLOOM)


def wider(rows):
    found = batch(rows)
    return found.append_column("more", pa.array(["x"] * found.num_rows))


BETWEEN = {each.__name__: each for each in (cleaned, clustered, compacted, restored, widened)}
ROWS = [("MERGE_ON_READ", "compacted"), *product(KINDS, ("cleaned", "clustered", "restored", "widened"))]


@pytest.mark.parametrize(("kind", "event"), sample(ROWS, 0))
def test_what_happens_between_the_writes_of_both(tmp_path, hudi12, kind, event):
    """Each reads the changes of both, before it and after it."""
    options = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, **options})
    rows = wider if event == "widened" else batch
    upsert = {
        **HUDI,
        **options,
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.operation": "upsert",
    }
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    if event == "restored":
        table.savepoint()
    pivot = table.timeline.commits[-1]
    follower = Follower(table)
    if event != "widened":  # images have the columns of the end of the range
        follower.follow()
    hudi12.write(table.base_path, batch([("a", "p", 5, 5), ("f", "p", 5, 5)]), upsert)
    BETWEEN[event](table)
    table.write(rows([("a", "p", 8, 8), ("c", "q", 8, 8)]), "upsert", SMALL_BLOOM)
    hudi12.write(table.base_path, rows([("a", "p", 9, 9), ("b", "p", 9, 9)]), upsert)
    table.write(rows([("b", "p", 10, 10)]), "delete", SMALL_BLOOM)
    follower.follow()
    follower.check()
    assert ours(table, pivot.completion_time) == theirs(hudi12, table, str(pivot.completion_time))
