"""Upgrades of whole tables: everything that could be read reads the same, and the table goes on."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, HoodieTable, Restore, Rollback, Upgrade
from hoodie.timeline import LayoutV2
from hoodie.transaction.audit import audit_names, read_audit
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content
from tests.support.upgrades import all_reads, compact, made, with_history

TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


@pytest.mark.parametrize(
    ("table_type", "archived", "steps"),
    sample([("COPY_ON_WRITE", True, (9,)), ("MERGE_ON_READ", True, (8, 9)), ("MERGE_ON_READ", False, (9,))], 1),
)
def test_snapshots_ranges_and_changes_are_the_same(tmp_path, table_type, archived, steps):
    table = with_history(tmp_path / "t", table_type, archived=archived)
    before = all_reads(table)
    assert len(before) > 30
    for target in steps:
        done = table.run(Upgrade(target))
        assert (done.version, table.version) == (target, target)
        assert all_reads(table) == before
        assert not table.diagnose().findings
    assert isinstance(table.state().layout, LayoutV2)
    names = {file.name for file in table.storage.list(".hoodie").files}
    assert names == {"hoodie.properties"}
    (audited,) = (each for each in audit_names(table.storage) if each.action == "upgrade")
    assert read_audit(table.storage, audited).outcome is not None
    assert "UpgradeRun(version 9" in repr(done)


@pytest.mark.parametrize("table_type", TYPES)
def test_a_position_in_the_changes_stays_where_it_is(tmp_path, table_type):
    table = with_history(tmp_path / "t", table_type)
    consumer = table.consumer("dashboard")
    consumer.reset("latest")
    position = consumer.position
    table.run(Upgrade(9))
    consumer = table.consumer("dashboard")
    assert consumer.read().num_rows == 0
    assert consumer.position == position == table.timeline.commits[-1].time
    table.write(batch([("z", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert consumer.read()["op"].to_pylist() == ["i"]


@pytest.mark.parametrize("table_type", TYPES)
def test_the_table_goes_on_and_back_over_the_upgrade(tmp_path, table_type):
    table = with_history(tmp_path / "t", table_type, archived=True)
    (saved,) = table.savepoints()
    past = content(table, as_of=saved.instant)
    table.run(Upgrade(9))
    table.write(batch([("a", "p", 20, 20), ("n", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("n", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    expected = content(table)
    table.write(batch([("o", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    table.run(Rollback(table.timeline.commits[-1].time))
    assert content(table) == expected
    compact(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert content(table) == expected
    assert content(table, as_of=saved.instant) == past
    table.run(Restore(saved.instant))
    assert content(table) == past
    table.write(batch([("p", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**past, "p": ("q", 2, 2)}


def test_an_open_table_reads_on(tmp_path):
    """It was opened before the upgrade, and so was its state."""
    table = with_history(tmp_path / "t", "COPY_ON_WRITE")
    other, state, expected = HoodieTable.open(table.base_path), table.state(), content(table)
    table.run(Upgrade(9))
    assert content(other) == expected
    assert other.version == 9
    assert state.reloaded().properties.version == 9


def test_an_empty_table(tmp_path):
    table = made(tmp_path / "t")
    table.run(Upgrade(9))
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 1, 1)}
