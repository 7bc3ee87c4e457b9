"""Tables of version 6 that the library has upgraded: Hudi reads, writes and services them, and goes back over the upgrade."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable, Upgrade
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from tests.interop.rows import rows
from tests.interop.test_savepoints import called
from tests.support.matrix import DEEP, sample
from tests.support.tables import batch
from tests.support.upgrades import with_history

pytestmark = pytest.mark.interop

MORE = pytest.mark.deep("the same timeline in version 8, and the other table type in version 9")
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr("hoodie.services.upgrade.execute.READER_SECONDS", 0)


def options(table, **more):
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.table.type": table.properties.table_type,
        "hoodie.write.table.version": str(table.version),
        "hoodie.write.auto.upgrade": "false",
        "hoodie.clean.automatic": "false",
        **more,
    }


def upgraded(path, table_type, target, *, archived):
    """The table, the time of its savepoint, and the rows of that."""
    made = with_history(path, table_type, archived=archived)
    (saved,) = made.savepoints()
    past = rows(made.read(as_of=saved.instant))
    made.run(Upgrade(target))
    return HoodieTable(made.storage, LocalEngine(1), SystemClock()), saved.instant, past


def same(hudi, table):
    """Hudi reads the rows that the library reads, with and without its metadata table, if there is one."""
    expected = rows(table.read())
    kept = HoodieTable.open(table.base_path).properties.metadata_partitions
    for enabled in ("true", "false") if kept or DEEP else ("false",):
        assert rows(hudi.read(table.base_path, **{"hoodie.metadata.enable": enabled})) == expected
    return expected


@pytest.mark.parametrize(
    ("table_type", "target"),
    [
        pytest.param("COPY_ON_WRITE", 9, marks=MORE),
        pytest.param("MERGE_ON_READ", 9, marks=pytest.mark.metadata),
        pytest.param("MERGE_ON_READ", 8, marks=MORE),
    ],
)
def test_hudi_goes_on_with_an_upgraded_table(tmp_path, hudi12, table_type, target):
    table, saved, past = upgraded(tmp_path / "t", table_type, target, archived=True)
    same(hudi12, table)
    assert rows(hudi12.read(table.base_path, **{"as.of.instant": saved})) == past
    writes = options(table)
    merges = table.properties.is_merge_on_read
    compacts = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"} if merges else {}
    for step in range(10, 12):
        rows_of_step = batch([("a", "p", step, step), (f"n{step}", "q", step, step)])
        hudi12.write(table.base_path, rows_of_step, {**writes, **compacts})
        same(hudi12, table)
    services = f"hoodie.write.table.version={target},hoodie.write.auto.upgrade=false"
    hudi12.clean(table.base_path, **dict(pair.split("=") for pair in services.split(",")), retain_commits="1")
    expected = same(hudi12, table)
    hudi12.write(table.base_path, batch([("z", "p", 1, 1)]), writes)
    assert len(same(hudi12, table)) == len(expected) + 1
    called(hudi12, table, "rollback_to_instant", instant_time=table.timeline.commits[-1].time)
    assert same(hudi12, table) == expected
    short = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    hudi12.write(table.base_path, batch([("y", "p", 1, 1)]), options(table, **short))
    same(hudi12, table)
    table.write(batch([("x", "r", 1, 1)]), "upsert")
    same(hudi12, table)


@pytest.mark.parametrize("table_type", sample(TYPES, 1))
def test_hudi_goes_back_over_an_upgrade(tmp_path, hudi12, table_type):
    table, saved, past = upgraded(tmp_path / "t", table_type, 9, archived=False)
    hudi12.write(table.base_path, batch([("a", "p", 20, 20)]), options(table, **{"hoodie.metadata.enable": "false"}))
    called(hudi12, table, "rollback_to_savepoint", instant_time=saved)
    assert rows(table.read()) == past
    assert rows(hudi12.read(table.base_path)) == past


def test_hudi_downgrades_an_upgraded_table(tmp_path, hudi12):
    table, _, _ = upgraded(tmp_path / "t", "COPY_ON_WRITE", 9, archived=True)
    expected = rows(table.read())
    hudi12.sql("set hoodie.metadata.enable=false")
    called(hudi12, table, "downgrade_table", to_version="SIX")
    table = HoodieTable.open(table.base_path)
    assert table.version == 6
    assert rows(table.read()) == rows(hudi12.read(table.base_path)) == expected
