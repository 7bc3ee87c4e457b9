"""Compactions go from hand to hand: planned here and executed by Hudi, planned by Hudi and executed here."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, HoodieTable, UnscheduleCompaction
from tests.interop.rows import META, rows
from tests.interop.test_cow import hudi_options
from tests.interop.test_mor import mor_history
from tests.support.matrix import sample

pytestmark = pytest.mark.interop


def call(hudi, table: HoodieTable, op: str, time: str | None = None, metadata: str = "false") -> list[dict]:
    """Hudi's procedure `run_compaction`."""
    name = f"t_{abs(hash(table.base_path))}"
    hudi.sql(f"create table if not exists {name} using hudi location '{table.base_path}'")
    options = (
        f"hoodie.write.table.version={table.version},hoodie.write.auto.upgrade=false,hoodie.metadata.enable={metadata}"
    )
    options += ",hoodie.compact.inline.max.delta.commits=1"
    when = f", timestamp => {time}L" if time else ""
    return hudi.sql(f"call run_compaction(op => '{op}', table => '{name}'{when}, options => '{options}')")


@pytest.mark.format("11f", "14d")
@pytest.mark.parametrize("version", ["9", "6"])
def test_ours_is_read_and_written_on(tmp_path, hudi12, hudi_rs_read, version):
    ours, table = mor_history(tmp_path / "t", version, True)
    before = rows(ours.read())
    commit_times = rows(ours.read(columns=["id", META[0]]), ["id", META[0]])
    time = ours.schedule(COMPACTION, force=True)
    # Writers go on between plan and execution; their logs are merged on top of what the compaction makes.
    ours.write(table(["k1", "k12", "k80"], [50, 50, 50], [7.0, 7.0, 7.0]), "upsert")
    waiting = rows(ours.read())
    assert rows(hudi12.read(ours.base_path)) == waiting
    (result,) = ours.run(COMPACTION, time=time)
    assert {stat.log for stat in result.metadata.stats} == {None}
    assert rows(ours.read()) == waiting != before
    assert rows(hudi12.read(ours.base_path)) == waiting
    assert rows(hudi_rs_read(ours.base_path)) == waiting
    kept = {row[0]: row[1] for row in rows(ours.read(columns=["id", META[0]]), ["id", META[0]])}
    assert all(kept[key] == written for key, written in commit_times if key not in ("k1", "k12")), (
        "rows keep their commit"
    )

    options = hudi_options(ours, True) | {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    change = table(["k1", "k13", "k81"], [60, 60, 60], [8.0, 8.0, 8.0])
    hudi12.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    assert rows(ours.read()) == rows(hudi12.read(ours.base_path))


@pytest.mark.format("11f", "11h", "14d")
@pytest.mark.parametrize("version", ["9", "6"])
def test_our_plan_is_executed_by_hudi(tmp_path, hudi12, version):
    ours, table = mor_history(tmp_path / "t", version, True)
    time = ours.schedule(COMPACTION, force=True)
    ours.write(table(["k1", "k12", "k80"], [50, 50, 50], [7.0, 7.0, 7.0]), "upsert")
    waiting = rows(ours.read())
    call(hudi12, ours, "run", time)
    assert [i.time for i in ours.timeline.commits if i.action == "commit"] == [time]
    assert rows(ours.read()) == waiting == rows(hudi12.read(ours.base_path))
    assert not any(s.log_files for s in ours.file_slices() if s.base_instant < time)


@pytest.mark.format("11f", "14d")
@pytest.mark.parametrize("version", ["9", "6"])
def test_a_plan_of_hudi_is_executed_by_us(tmp_path, hudi12, version):
    ours, table = mor_history(tmp_path / "t", version, True)
    call(hudi12, ours, "schedule")
    (time,) = [i.time for i in ours.timeline.pending if i.action == "compaction"]
    ours.write(table(["k1", "k12", "k80"], [50, 50, 50], [7.0, 7.0, 7.0]), "upsert")
    waiting = rows(ours.read())
    (result,) = ours.run(COMPACTION)
    assert result.instant.time == time
    assert rows(ours.read()) == waiting == rows(hudi12.read(ours.base_path))
    assert ours.timeline.pending == ()


@pytest.mark.deep("the unit tests hold which rows are there")
def test_a_plan_of_hudi_is_unscheduled_and_logs_since_stay(tmp_path, hudi12):
    """As by its own `compaction unschedule`: the logs on top of the plan belong to the slice before it again."""
    ours, table = mor_history(tmp_path / "t", "9", True)
    call(hudi12, ours, "schedule")
    (time,) = [i.time for i in ours.timeline.pending if i.action == "compaction"]
    ours.write(table(["k1", "k12", "k80"], [50, 50, 50], [7.0, 7.0, 7.0]), "upsert")
    waiting = rows(ours.read())
    ours.run(UnscheduleCompaction(time))
    assert rows(ours.read()) == waiting == rows(hudi12.read(ours.base_path))
    call(hudi12, ours, "scheduleandexecute")
    assert [i.time > time for i in ours.timeline.commits if i.action == "commit"] == [True]
    assert rows(ours.read()) == waiting == rows(hudi12.read(ours.base_path))


@pytest.mark.parametrize("version", sample(["9", "6"], 0))
def test_a_metadata_table_that_hudi_keeps_does_not_hide_our_compaction(tmp_path, hudi12, version):
    """Hudi plans and goes on writing, and keeps one; it would not know the new base files."""
    ours, table = mor_history(tmp_path / "t", version, True)
    options = hudi_options(ours, True) | {
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.metadata.enable": "true",
        "hoodie.compact.inline": "false",
    }
    hudi12.write(ours.base_path, table(["k1", "k82"], [60, 60], [8.0, 8.0]), options)
    call(hudi12, ours, "schedule", metadata="true")
    (time,) = [i.time for i in ours.timeline.pending if i.action == "compaction"]
    hudi12.write(ours.base_path, table(["k12", "k84"], [65, 65], [8.5, 8.5]), options)
    assert HoodieTable.open(ours.base_path).properties.has_metadata_table
    waiting = rows(ours.read())
    ours.run(COMPACTION, time=time)
    assert rows(hudi12.read(ours.base_path, **{"hoodie.metadata.enable": "true"})) == waiting == rows(ours.read())
    hudi12.write(ours.base_path, table(["k2", "k83"], [70, 70], [9.0, 9.0]), options)
    assert rows(ours.read()) == rows(hudi12.read(ours.base_path, **{"hoodie.metadata.enable": "true"}))
