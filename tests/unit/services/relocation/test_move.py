"""Moves of tables by renaming, and what an error of the disk leaves."""

from __future__ import annotations

import os

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import TableExistsError, TableNotFoundError
from hoodie.services.relocation.marks import CopyMark
from hoodie.services.relocation.move import plan_move, run_move
from hoodie.storage import LocalStorage, open_storage
from hoodie.storage.base import Listing
from tests.support.locks import NO_WAIT
from tests.support.tables import batch, content, create
from tests.unit.services.relocation.test_obstacles import SHARING


def test_a_folder_is_renamed_and_stays_where_that_fails(tmp_path, monkeypatch):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    source, target = LocalStorage(str(tmp_path / "t")), LocalStorage(str(tmp_path / "deep" / "u"))
    number = (tmp_path / "t" / "part=p").stat().st_ino

    def refuse(*_paths):
        raise OSError("another disk")

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", refuse)
        with pytest.raises(OSError, match="another disk"):
            run_move(source, target, SystemClock(), NO_WAIT, SHARING)
    assert content(table) == {"a": ("p", 1, 1)}
    plan = run_move(source, target, SystemClock(), NO_WAIT, SHARING)
    assert plan.target == target.base_path
    assert content(HoodieTable.open(target.base_path)) == {"a": ("p", 1, 1)}
    assert (tmp_path / "deep" / "u" / "part=p").stat().st_ino == number, "renamed, not copied"
    assert not (tmp_path / "t").exists()


def test_a_move_that_was_cut_short_has_no_obstacles_any_more(tmp_path):
    create(tmp_path / "t")
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").rename(tmp_path / "t" / ".hoodie" / "moving.properties")
    source, target = LocalStorage(str(tmp_path / "t")), LocalStorage(str(tmp_path / "u"))
    assert plan_move(source, target, SystemClock(), SHARING).continued
    run_move(source, target, SystemClock(), NO_WAIT, SHARING)
    assert HoodieTable.open(target.base_path).properties.name == "trips"


def test_a_move_between_storages_is_a_copy_and_a_drop(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    local, remote, back = str(tmp_path / "t"), f"memory://{tmp_path}/u", str(tmp_path / "back")
    for source, target in ((local, remote), (remote, back)):
        run_move(open_storage(source), open_storage(target), SystemClock(), NO_WAIT, SHARING)
        assert content(HoodieTable.open(target)) == {"a": ("p", 1, 1)}
        assert open_storage(source).list("") == Listing()
        assert not {file.name for file in open_storage(target).list(".hoodie").files} & {"copied_from.json"}
    assert not (tmp_path / "t").exists()


def test_only_the_table_of_a_move_that_was_cut_short_ends_it(tmp_path):
    for name in ("s", "x"):
        create(tmp_path / name).write(batch([(name, "p", 1, 1)]))
    (tmp_path / "s" / ".hoodie" / "hoodie.properties").rename(tmp_path / "s" / ".hoodie" / "moving.properties")
    (tmp_path / "s").rename(tmp_path / "u")
    source, other, target = (LocalStorage(str(tmp_path / name)) for name in ("s", "x", "u"))
    with pytest.raises(TableExistsError):
        run_move(other, target, SystemClock(), NO_WAIT, SHARING)
    run_move(source, target, SystemClock(), NO_WAIT, SHARING)
    CopyMark(source.base_path, is_move=True).write(target)
    with pytest.raises(TableNotFoundError):
        run_move(LocalStorage(str(tmp_path / "nowhere")), target, SystemClock(), NO_WAIT, SHARING)
    assert [content(HoodieTable.open(str(tmp_path / name))) for name in "ux"] == [
        {"s": ("p", 1, 1)},
        {"x": ("p", 1, 1)},
    ]


def test_a_new_place_may_be_spelled_by_way_of_the_old_one(tmp_path):
    create(tmp_path / "t").write(batch([("a", "p", 1, 1)]))
    source, target = LocalStorage(str(tmp_path / "t")), LocalStorage(f"{tmp_path}/t/../u")
    run_move(source, target, SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(str(tmp_path / "u"))) == {"a": ("p", 1, 1)}
