"""An alteration beside other writers, services that were planned before it, and a restore."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import CLUSTERING, COMPACTION, HoodieTable, Restore
from hoodie.errors import WriteConflictError
from hoodie.schema.changes import (
    FIRST,
    AddColumn,
    DropColumn,
    RenameColumn,
)
from hoodie.write import alter as alter_module
from hoodie.write.execute import WriteHooks
from tests.support.altered_tables import KINDS, OPTIMISTIC, ROWS, WITH_LOGS, compact, upsert, values, written
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0][:4]}{kind[1]}")
def table(request, tmp_path):
    return written(tmp_path, *request.param)


@WITH_LOGS
@pytest.mark.parametrize("ahead", ["plan", "none"])
def test_a_compaction_planned_before(table, ahead):
    table.schedule(COMPACTION, force=True)
    table.alter([DropColumn("value"), AddColumn("value", pa.int64()), AddColumn("ä", pa.int32(), place=FIRST)])
    if ahead == "plan":
        table.run(COMPACTION, SMALL_BLOOM)
    upsert(table, "b", value=5, ä=1)
    table.run(COMPACTION, SMALL_BLOOM)
    assert table.schema.names == ["ä", "id", "part", "ts", "value"]
    assert values(table, "value") == {"a": None, "b": 5, "c": None}


def test_two_writers(table):
    """A writer that had begun before the columns changed loses, although they are called as before."""
    path = table.storage.base_path
    changed = []

    def alter_between():
        if not changed:
            other = HoodieTable.open(path, clock=table.clock)
            changed.append(other.alter([DropColumn("value"), AddColumn("value", pa.int64())], OPTIMISTIC))
        return {}

    options = {**SMALL_BLOOM, **OPTIMISTIC}
    with pytest.raises(WriteConflictError, match="changed the table's columns"):
        table.write(batch([("z", "new", 5, 5)]), "insert", options, hooks=WriteHooks(before_commit=alter_between))
    assert len(changed) == 1
    assert values(table, "value") == dict.fromkeys("abc")


@pytest.mark.parametrize(
    "changes",
    [
        [RenameColumn("value", "x"), AddColumn("value", pa.int64())],
        [DropColumn("value"), AddColumn("value", pa.int64())],
    ],
    ids=["renamed", "dropped"],
)
@pytest.mark.parametrize("ahead", [True, False])
def test_a_clustering_planned_before(tmp_path, changes, ahead):
    """Its files bear the time of its plan, and the columns of that time."""
    table = create(tmp_path / "t", FakeClock())
    for row in ROWS:
        table.write(batch([row]), "insert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    if ahead:
        table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.sort.columns": "value"}, force=True)
    table.alter(changes)
    if not ahead:
        table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.sort.columns": "value"}, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)
    renamed = {"a": 1, "b": 2, "c": 3}
    for _ in range(2):
        assert values(table, "value") == dict.fromkeys("abc")
        if "x" in table.schema.names:
            assert values(table, "x") == renamed
        upsert(table, "a", **{name: number for name, number in (("x", 1),) if name in table.schema.names})
    upsert(table, "b", value=5)
    assert values(table, "value") == {"a": None, "b": 5, "c": None}


def test_an_alteration_that_a_later_write_overtakes(table, monkeypatch):
    """The write began after it, and knew the old columns: under the same names its values would be the new column's."""
    real, done = alter_module.arrow_to_avro, []

    def meanwhile(*given):
        if not done:
            other = HoodieTable.open(table.base_path, clock=table.clock)
            done.append(other.write(batch([("a", "p", 5, 55)]), "upsert", {**SMALL_BLOOM, **OPTIMISTIC}))
        return real(*given)

    monkeypatch.setattr(alter_module, "arrow_to_avro", meanwhile)
    changes = [DropColumn("value"), AddColumn("value", pa.int64())]
    with pytest.raises(WriteConflictError):
        table.alter(changes, OPTIMISTIC)
    assert values(table, "value")["a"] == 55
    table.alter(changes, OPTIMISTIC)
    assert values(table, "value") == dict.fromkeys("abc")


def test_two_writers_that_add_one_column(table):
    """Each would give it an id of its own, and one's values would be null."""
    table.alter([AddColumn("more", pa.int64())])
    done = []

    def rows_of(key, part, number):
        return batch([(key, part, 5, 5)]).append_column("new", pa.array([number]))

    def meanwhile():
        if not done:
            other = HoodieTable.open(table.base_path, clock=table.clock)
            done.append(other.write(rows_of("x", "m", 1), "upsert", {**SMALL_BLOOM, **OPTIMISTIC}))
        return {}

    options, again = {**SMALL_BLOOM, **OPTIMISTIC}, {"hoodie.write.num.retries.on.conflict.failures": 1}
    with pytest.raises(WriteConflictError):
        table.write(rows_of("y", "n", 2), "upsert", options, hooks=WriteHooks(before_commit=meanwhile))
    table.write(rows_of("y", "n", 2), "upsert", options | again)
    assert {key: values(table, "new")[key] for key in "xy"} == {"x": 1, "y": 2}


def test_restored_to_before(table):
    """The columns come back, and those that are added then have none of the values of those that are gone."""
    time = table.timeline.commits[-1].time
    table.savepoint()
    table.alter([RenameColumn("value", "x"), AddColumn("value", pa.int64())])
    upsert(table, "a", x=10, value=11)
    table.run(Restore(time))
    assert table.schema.names == ["id", "part", "ts", "value"]
    assert values(table, "value") == {"a": 1, "b": 20, "c": 3}
    upsert(table, "a", value=12)
    table.alter([DropColumn("value"), AddColumn("value", pa.int64())])
    upsert(table, "b", value=13)
    for _ in range(2):
        assert values(table, "value") == {"a": None, "b": 13, "c": None}
        compact(table)
