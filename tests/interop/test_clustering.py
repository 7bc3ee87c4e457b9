"""Clusterings go from hand to hand: planned here and executed by Hudi, planned by Hudi and executed here."""

from __future__ import annotations

import pytest

from hoodie import CLUSTERING, HoodieTable
from tests.interop.rows import META, rows
from tests.interop.test_cow import hudi_options, make_table
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

KINDS = [(version, mor) for version in ("9", "6") for mor in (True, False)]
SORT = "hoodie.clustering.plan.strategy.sort.columns"


def history(path, version, mor):
    """Several files a partition, updated, with deletions; where there are logs, these too."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.write.table.version": version,
    }
    ours = HoodieTable.create(str(path), options)
    for first in (0, 10):
        keys = [f"k{number}" for number in range(first, first + 10)]
        ours.write(make_table(keys, [10] * 10, [float(number * 7 % 10) for number in range(10)]), "bulk_insert")
    ours.write(make_table(["k1", "k12"], [20, 20], [9.5, 0.5]), "upsert")
    ours.write(make_table(["k5", "k6"], [30, 30], [0, 0]), "delete")
    return ours, make_table


def call(hudi, table: HoodieTable, op: str, time: str | None = None) -> list[dict]:
    """Hudi's procedure `run_clustering`."""
    name = f"c_{abs(hash(table.base_path))}"
    hudi.sql(f"create table if not exists {name} using hudi location '{table.base_path}'")
    options = f"hoodie.write.table.version={table.version},hoodie.write.auto.upgrade=false,hoodie.metadata.enable=false"
    when = f", instants => '{time}'" if time else ""
    order = ", order => 'price,id'" if op != "execute" else ""
    return hudi.sql(f"call run_clustering(op => '{op}', table => '{name}'{when}{order}, options => '{options}')")


def commit_times(table):
    return rows(table.read(columns=["id", META[0], META[1]]), ["id", META[0], META[1]])


@pytest.mark.format("11j")
@pytest.mark.parametrize(("version", "mor"), sample(KINDS, 1, 2))
def test_ours_is_read_and_written_on(tmp_path, hudi12, hudi_rs_read, version, mor):
    ours, table = history(tmp_path / "t", version, mor)
    before, kept = rows(ours.read()), commit_times(ours)
    last = ours.timeline.last_commit
    ours.schedule(CLUSTERING, {SORT: "price,id"}, force=True)
    assert rows(hudi12.read(ours.base_path)) == before, "while the plan waits"
    (done,) = ours.run(CLUSTERING)
    assert done.metadata.replaced
    assert rows(ours.read()) == before
    assert commit_times(ours) == kept, "rows keep their commit"
    assert rows(hudi12.read(ours.base_path)) == before
    assert rows(hudi_rs_read(ours.base_path)) == before
    since = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": last.completion_time,
    }
    if version == "9":
        assert hudi12.read(ours.base_path, **since).num_rows == 0, "no clustered row is new to Hudi either"

    options = hudi_options(ours, True) | {
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE"
    }
    change = table(["k1", "k13", "k81"], [60, 60, 60], [8.0, 8.0, 8.0])
    hudi12.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    after = rows(ours.read())
    assert after == rows(hudi12.read(ours.base_path)) != before


@pytest.mark.format("11j")
@pytest.mark.parametrize(("version", "mor"), sample(KINDS, 0, 3))
def test_our_plan_is_executed_by_hudi(tmp_path, hudi12, version, mor):
    ours, _ = history(tmp_path / "t", version, mor)
    before, kept = rows(ours.read()), commit_times(ours)
    time = ours.schedule(CLUSTERING, {SORT: "price,id"}, force=True)
    call(hudi12, ours, "execute", time)
    assert ours.timeline.pending == ()
    last = ours.timeline.last_commit
    assert (last.time, last.action) == (time, "replacecommit")
    assert rows(ours.read()) == before == rows(hudi12.read(ours.base_path))
    assert commit_times(ours) == kept


@pytest.mark.format("11j")
@pytest.mark.parametrize(("version", "mor"), sample(KINDS, 1, 2))
def test_a_plan_of_hudi_is_executed_by_us(tmp_path, hudi12, version, mor):
    ours, _ = history(tmp_path / "t", version, mor)
    before, kept = rows(ours.read()), commit_times(ours)
    call(hudi12, ours, "schedule")
    (time,) = [i.time for i in ours.timeline.pending if i.action is ours.state().layout.clustering]
    (result,) = ours.run(CLUSTERING)
    assert result.instant.time == time
    assert result.passed_over == ()
    assert ours.timeline.pending == ()
    assert rows(ours.read()) == before == rows(hudi12.read(ours.base_path))
    assert commit_times(ours) == kept
