"""Writers without the table's lock during an upgrade, and locks that are lost: no commit goes, and no new timeline of others."""

from __future__ import annotations

import pytest

from hoodie import Upgrade
from hoodie.errors import CorruptTableError, LockLostError, PendingInstantError
from hoodie.services.upgrade import execute
from hoodie.services.upgrade.marks import MARK, read_mark
from tests.support.tables import SMALL_BLOOM, batch, content
from tests.support.upgrades import made

OLD = ".hoodie/20990101000000001.commit.requested"
NEW = ".hoodie/timeline/20990101000000001.commit.requested"


@pytest.fixture
def table(tmp_path):
    table = made(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


def during(monkeypatch, name, action):
    """Do `action` after the first call of a function of `execute`."""
    original, done = getattr(execute, name), list[bool]()

    def both(*arguments):
        result = original(*arguments)
        if not done:
            done.append(True)
            action()
        return result

    monkeypatch.setattr(execute, name, both)


def untouched(table):
    return not (table.storage.info(MARK) or table.storage.list(".hoodie/timeline").files)


def test_an_old_writer_before_the_switch(table, monkeypatch):
    during(monkeypatch, "_write_history", lambda: table.storage.create(OLD, b""))
    with pytest.raises(PendingInstantError, match=r"was taken back.*20990101000000001\.commit\.requested"):
        table.run(Upgrade(9))
    assert table.version == 6
    assert untouched(table)
    assert content(table) == {"a": ("p", 1, 1)}


@pytest.mark.parametrize("moment", ["update_properties", "_settle"])
def test_an_old_writer_after_the_switch(table, monkeypatch, moment):
    """At once, or while readers get their time."""
    during(monkeypatch, moment, lambda: table.storage.create(OLD, b""))
    with pytest.raises(PendingInstantError, match="was taken back"):
        table.run(Upgrade(9))
    assert table.version == 6
    assert untouched(table)
    table.write(batch([("b", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 1, 1), "b": ("p", 1, 1)}


def test_writers_of_both_versions_after_the_switch(table, monkeypatch):
    def both():
        table.storage.create(OLD, b"")
        table.storage.create(NEW, b"")

    during(monkeypatch, "update_properties", both)
    with pytest.raises(PendingInstantError, match="Writers of both versions"):
        table.run(Upgrade(9))
    assert table.version == 9
    assert table.storage.info(NEW) is not None
    assert content(table) == {"a": ("p", 1, 1)}
    table.storage.delete(NEW)
    with pytest.raises(PendingInstantError, match="A writer of the old version has written"):
        table.run(Upgrade(9))
    table.storage.delete(OLD)
    assert "cut short" in table.explain(Upgrade(9)).reason
    table.run(Upgrade(9))
    assert read_mark(table.storage) is None
    assert content(table) == {"a": ("p", 1, 1)}


def test_without_the_lock_nothing_is_withdrawn(table, monkeypatch):
    """The next holder of the lock may have the new timeline in use."""

    def lost():
        def refuse():
            raise LockLostError("The lock is gone")

        monkeypatch.setattr(execute, "verify_held", refuse)

    during(monkeypatch, "_write_history", lost)
    with pytest.raises(LockLostError):
        table.run(Upgrade(9))
    assert table.version == 6
    assert not untouched(table)
    monkeypatch.undo()
    assert "cut short" in table.explain(Upgrade(9)).as_text("upgrade")
    table.run(Upgrade(9))
    assert content(table) == {"a": ("p", 1, 1)}


def test_a_commit_that_cannot_be_read_stops_it(table):
    (commit,) = table.timeline.commits
    path = f".hoodie/{commit.file_name}"
    table.storage.delete(path)
    table.storage.create(path, b"{torn")
    with pytest.raises(CorruptTableError, match=str(commit.time)):
        table.run(Upgrade(9))
    assert table.version == 6
    assert untouched(table)
