"""A table that is dropped, copied or moved, killed at any storage call: it is whole, or the same command ends it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.properties.store import COPYING, PROPERTIES
from hoodie.errors import TableNotFoundError
from hoodie.services.relocation.copy import run_copy
from hoodie.services.relocation.drop import run_drop
from hoodie.services.relocation.move import run_move
from hoodie.storage import LocalStorage
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from tests.support.crashes import failures
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, content, create

SHARING = ConcurrencyOptions.of(resolve({}, SHARING_KEYS))

MORE = pytest.mark.deep("the other kinds of failures meet the same calls")
KINDS = [("kill", False), pytest.param("kill", True, marks=MORE), pytest.param("full", False, marks=MORE)]


@pytest.fixture
def origin(tmp_path):
    """A table with logs, an older version of a file, a file of its own in the folder, and a consumer."""
    table = create(tmp_path / "origin", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    table.consumer("dashboard").reset("earliest")
    (tmp_path / "origin" / "notes.txt").write_text("beside the rows")
    return tmp_path / "origin"


def rows(path):
    """The rows; None where no table is readable."""
    try:
        return content(HoodieTable.open(str(path)))
    except TableNotFoundError:
        return None


def is_gone(path):
    """Nothing is left. A kill at the very end leaves an empty folder."""
    return not path.exists() or not list(path.iterdir())


@pytest.mark.parametrize(("kind", "half"), [*KINDS, pytest.param("lost", False, marks=MORE)])
def test_a_drop_that_dies_at_any_call(origin, kind, half):
    whole = rows(origin)

    def drop(storage, clock):
        run_drop(storage, clock, NO_WAIT, SHARING, ("consumers",))

    for storage, clock, call in failures(origin, drop, kind, half, beside=()):
        left = LocalStorage(storage.base_path)
        assert rows(left.base_path) in (whole, None), call
        if left.list("").folders:
            drop(left, clock)
        assert rows(left.base_path) is None
        assert is_gone(origin.with_name("run")), call
    assert rows(origin) == whole


@pytest.mark.parametrize(("kind", "half"), KINDS)
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_copy_that_dies_at_any_call(origin, tmp_path, kind, half, side):
    whole, place = rows(origin), tmp_path / "copy"
    fault = tmp_path / ("empty" if side == "target" else "origin")
    (tmp_path / "empty").mkdir()

    def copy(storage, clock):
        shutil.rmtree(place, ignore_errors=True)
        if side == "target":
            run_copy(LocalStorage(str(origin)), storage, clock, NO_WAIT, SHARING, at_once=1)
        else:
            run_copy(storage, LocalStorage(str(place)), clock, NO_WAIT, SHARING, at_once=1)

    for storage, clock, call in failures(fault, copy, kind, half, beside=[place]):
        made = storage.base_path if side == "target" else str(place)
        source = str(origin) if side == "target" else storage.base_path
        assert rows(made) in (whole, None), call
        assert rows(source) == whole, call
        if rows(made) is None or LocalStorage(made).info(COPYING) is not None:
            run_copy(LocalStorage(source), LocalStorage(made), clock, NO_WAIT, SHARING, at_once=1)
        assert rows(made) == whole, call
        assert LocalStorage(made).info(COPYING) is None
        run_drop(LocalStorage(made), SystemClock(), NO_WAIT, SHARING)


@pytest.mark.parametrize(("kind", "half"), KINDS)
@pytest.mark.parametrize("renames", [True, False])
def test_a_move_that_dies_at_any_call(origin, tmp_path, monkeypatch, kind, half, renames):
    whole, place = rows(origin), LocalStorage(str(tmp_path / "moved"))
    if not renames:
        monkeypatch.setattr("hoodie.services.relocation.move._on_one_disk", lambda _source, _target: False)

    def move(storage, clock):
        run_move(storage, place, clock, NO_WAIT, SHARING, at_once=1)

    def first(storage, clock):
        shutil.rmtree(place.base_path, ignore_errors=True)
        move(storage, clock)

    for storage, clock, call in failures(origin, first, kind, half, beside=[Path(place.base_path)]):
        source = LocalStorage(storage.base_path)
        assert rows(source.base_path) in (whole, None), call
        assert rows(place.base_path) in (whole, None), call
        if source.list("").folders or place.info(PROPERTIES) is None or place.info(COPYING) is not None:
            move(source, clock)
        assert rows(place.base_path) == whole, call
        assert is_gone(origin.with_name("run")), call
        assert not [file.path for file in place.list(".hoodie").files if "moving" in file.path or "copied" in file.path]
