"""Hudi's cleaner and ours are one cleaner: the same files go, and each goes on from what the other recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.services.clean.plan import last_clean
from tests.interop.rows import rows
from tests.support.matrix import diagonal

pytestmark = pytest.mark.interop

POLICIES = {
    "commits": {"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "2"},
    "versions": {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "2"},
}
FULL = {"hoodie.clean.incremental.enabled": "false"}
HUDIS_FULL = {"hoodie.cleaner.incremental.mode": "false", "hoodie.clean.incremental.enabled": "false"}


def batch(step, *parts):
    """Two keys of each partition, with the step as value: an update of what is there."""
    keys = [f"{part}{number}" for part in parts for number in range(2)]
    return pa.table({"id": keys, "part": [key[0] for key in keys], "ts": pa.array([step] * len(keys), pa.int64())})


def hudi_options(version, **more):
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        **more,
    }


def create(path, version):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.write.table.version": version,
    }
    return HoodieTable.create(str(path), options)


def files(table):
    base = Path(table.base_path)
    found = {str(file.relative_to(base)) for file in base.rglob("*.parquet")}
    return {file for file in found if not file.startswith(".hoodie") and not Path(file).name.startswith(".")}


def hudi_cleans(hudi, table, **options):
    """The files that Hudi's cleaner removed."""
    before = files(table)
    rest = {"hoodie.write.table.version": str(table.version), "hoodie.write.auto.upgrade": "false"}
    hudi.clean(table.base_path, **rest, **options)
    return before - files(table)


def planned(table, **options):
    plan = table.explain(CLEAN, options).plan
    return {file.path for file in plan.files} if plan else set()


def check_rows(hudi, table, expected):
    assert rows(table.read()) == rows(hudi.read(table.base_path)) == expected


@pytest.mark.format("11b")
@pytest.mark.parametrize(("version", "policy"), diagonal(["9", "6"], ["versions", "commits"]))
def test_both_clean_a_table_that_we_write(tmp_path, hudi12, version, policy):
    options = POLICIES[policy]
    without_metadata = {**options, "hoodie.metadata.enable": "false"}
    table = create(tmp_path / "t", version)
    for step in range(5):
        table.write(batch(step, "a", "b", "c") if step < 4 else batch(step, "a"), "upsert")
    expected = rows(table.read())
    first = table.timeline.commits[0].time
    bait = next(file for file in files(table) if file.startswith("b/") and first in file)
    shutil.copy(tmp_path / "t" / bait, tmp_path / "kept")

    # Hudi first: it removes what we would have removed, and then we find nothing more to do.
    wanted = planned(table, **options)
    assert bait in wanted
    assert hudi_cleans(hudi12, table, **without_metadata) == wanted
    assert planned(table, **options) == planned(table, **options, **FULL) == set()
    check_rows(hudi12, table, expected)

    # We go on from Hudi's clean: only what changed since is looked at.
    theirs = last_clean(table.state()).start
    for step in range(5, 7):
        table.write(batch(step, "a"), "upsert")
    expected = rows(table.read())
    wanted = planned(table, **options, **FULL)
    run = table.run(CLEAN, options)
    assert f"since the last clean ({theirs})" in run.decision.reason
    assert run.decision.facts["partitions_listed"] == (1 if policy == "versions" else 3)
    assert {file.path for file in run.decision.plan.files} == wanted != set()
    check_rows(hudi12, table, expected)

    # Hudi goes on from ours. An old slice put back where nothing changed shows what Hudi looks at.
    ours = last_clean(table.state()).start
    assert hudi_cleans(hudi12, table, **without_metadata) == set()
    shutil.copy(tmp_path / "kept", tmp_path / "t" / bait)
    table.write(batch(7, "a"), "upsert")
    table.write(batch(8, "a"), "upsert")
    expected = rows(table.read())
    wanted = planned(table, **options, **FULL)
    assert bait in wanted
    removed = hudi_cleans(hudi12, table, **without_metadata)
    assert removed == (wanted - {bait} if policy == "commits" else wanted)  # by versions Hudi always lists everything
    assert removed - {bait}
    shutil.copy(tmp_path / "kept", tmp_path / "t" / bait)
    check_rows(hudi12, table, expected)

    name = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    shown = {row["clean_time"]: row for row in hudi12.sql(f"call show_cleans(table => '{name}')")}
    assert {theirs, ours} <= shown.keys()
    assert shown[ours]["total_files_deleted"] == run.files_deleted
    assert shown[ours]["earliest_commit_to_retain"] == (run.decision.plan.earliest_to_retain or "")


@pytest.mark.parametrize(("version", "policy"), [("9", "commits"), ("6", "versions")])
def test_both_clean_a_table_that_hudi_writes(tmp_path, hudi12, recorded, version, policy):
    """And at the end Hudi cleans by itself after a commit."""
    without_metadata = {"hoodie.metadata.enable": "false"}
    options = {**POLICIES[policy], **without_metadata}
    write = hudi_options(version, **{"hoodie.clean.automatic": "false"}, **without_metadata)
    hudis = recorded("hudi12")
    for step in range(4):
        mode = "append" if step else "overwrite"
        hudis.write(tmp_path / "t", batch(step, "a", "b") if step < 3 else batch(step, "a"), write, mode)
    table = HoodieTable.open(hudis.table(tmp_path / "t"))
    expected = rows(hudis.read(table.base_path))
    run = table.run(CLEAN, POLICIES[policy])
    assert run.files_deleted > 0
    check_rows(hudi12, table, expected)
    assert hudi_cleans(hudi12, table, **options) == set()
    assert hudi_cleans(hudi12, table, **options, **HUDIS_FULL) == set()

    before = files(table)
    hudi12.write(table.base_path, batch(9, "a"), {**write, **options, "hoodie.clean.automatic": "true"})
    assert before - files(table), "Hudi cleaned after its commit"
    assert planned(table, **POLICIES[policy]) == planned(table, **POLICIES[policy], **FULL) == set()
    check_rows(hudi12, table, rows(table.read()))


@pytest.mark.format("11c", "11m")
@pytest.mark.parametrize("version", ["9", "6"])
def test_savepoints_of_hudi_are_kept(tmp_path, hudi12, version):
    options = {"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "1"}
    without_metadata = {**options, "hoodie.metadata.enable": "false"}
    table = create(tmp_path / "t", version)
    table.write(batch(0, "a", "b"), "upsert")
    table.write(batch(1, "a", "b"), "upsert")
    hudi_cleans(hudi12, table, **without_metadata)  # makes the table known to Hudi's catalog
    saved, expected, kept = table.timeline.commits[-1].time, rows(table.read()), files(table)
    name = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    hudi12.sql(f"call create_savepoint(table => '{name}', commit_time => '{saved}')")
    kept = {file for file in kept if saved in file}
    assert len(kept) == 2

    for step in range(2, 5):
        table.write(batch(step, "a"), "upsert")
    assert table.run(CLEAN, options).files_deleted > 0
    assert kept <= files(table)
    assert hudi_cleans(hudi12, table, **without_metadata) == set()
    assert rows(table.read(as_of=saved)) == expected  # Hudi reads no instant before the last clean's earliest commit

    hudi12.sql(f"call delete_savepoint(table => '{name}', instant_time => '{saved}')")
    table.write(batch(6, "a"), "upsert")
    table.write(batch(7, "a"), "upsert")
    wanted = planned(table, **options)
    assert wanted & kept == {file for file in kept if file.startswith("a/")}
    table.run(CLEAN, options)
    assert hudi_cleans(hudi12, table, **without_metadata) == set()
    check_rows(hudi12, table, rows(table.read()))
