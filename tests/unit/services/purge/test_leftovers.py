"""A purge that something holds back leaves who holds what, until a run has erased everything."""

from __future__ import annotations

import pytest

from hoodie import Purge
from hoodie.services.purge import erasure
from hoodie.services.purge.leftovers import Holder, unfinished_purges
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

PERSON = "person-4711"
PURGE = Purge(f"id = '{PERSON}'")
DELETED = Purge(PURGE.condition, delete_savepoints=True)


def made(path):
    table = create(path, FakeClock())
    for step in range(2):
        table.write(batch([(PERSON, "p", step, step), ("other", "p", step, step)]), "upsert", SMALL_BLOOM)
    return table


def test_the_holders_of_files_stay_until_everything_is_erased(tmp_path):
    table = made(tmp_path / "t")
    saved = table.savepoint().instant
    for _run in range(2):
        held = table.run(PURGE).remaining.removal.held_files
        (left,) = unfinished_purges(table.storage)
        by = f"savepoint {saved} keeps it until it is deleted"
        size = sum(file.bytes for file in held)
        assert left.holders == (Holder(by, "run with --delete-savepoints", len(held), size),)
        assert (left.files, left.bytes, left.ended, left.can_go_on) == (len(held), size, True, True)
        assert left.at <= table.clock.now()
    assert table.run(DELETED).is_erased
    assert unfinished_purges(table.storage) == []


def test_no_value_of_the_rows_is_kept_beside_the_keys(tmp_path):
    table = made(tmp_path / "t")
    table.savepoint()
    table.run(PURGE)
    files = [file.path for file in table.storage.list(".hoodie/.purge").files if not file.name.endswith(".arrow")]
    assert len(files) == 1
    assert PERSON.encode() not in table.storage.read(files[0])


def test_a_killed_run_is_known_by_its_keys(tmp_path, monkeypatch):
    table = made(tmp_path / "t")
    with monkeypatch.context() as broken:
        broken.setattr(erasure.Erasure, "_erase", lambda *_args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            table.run(PURGE)
    (left,) = unfinished_purges(table.storage)
    assert (left.ended, left.can_go_on, left.holders) == (False, True, ())
    assert table.run(PURGE).is_erased
    assert unfinished_purges(table.storage) == []


def test_files_that_no_step_rewrites_are_counted_and_wait_for_nobody(tmp_path):
    table = made(tmp_path / "t")
    table.storage.create(".hoodie/note.txt", PERSON.encode())
    assert not table.run(PURGE).is_erased
    (left,) = unfinished_purges(table.storage)
    assert (left.left, left.files, left.can_go_on) == (1, 0, False)


def test_another_condition_that_erases_the_same_keys_ends_it(tmp_path):
    table = made(tmp_path / "t")
    table.savepoint()
    assert not table.run(PURGE).is_erased
    assert table.run(Purge(f"id in ('{PERSON}', 'nobody')", delete_savepoints=True)).is_erased
    assert unfinished_purges(table.storage) == []
