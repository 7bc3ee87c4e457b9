"""Drops of tables, whole and begun."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.properties.store import DROPPED
from hoodie.errors import PendingInstantError, TableNotFoundError
from hoodie.services.relocation.drop import is_emptied, plan_drop, run_drop
from hoodie.storage import LocalStorage
from tests.support.locks import NO_WAIT
from tests.support.tables import batch, content, create
from tests.unit.services.relocation.test_obstacles import SHARING


def test_a_drop_counts_and_deletes_all_files(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    (tmp_path / "t" / "notes.txt").write_text("x")
    (tmp_path / "beside.txt").write_text("x")
    storage, clock = LocalStorage(str(tmp_path / "t")), SystemClock()
    files = [path for path in (tmp_path / "t").rglob("*") if path.is_file()]
    plan = plan_drop(storage, clock, SHARING)
    assert (plan.files, plan.bytes, plan.continued) == (len(files), sum(path.stat().st_size for path in files), False)
    table.savepoint()
    with pytest.raises(PendingInstantError, match="savepoints"):
        run_drop(storage, clock, NO_WAIT, SHARING)
    run_drop(storage, clock, NO_WAIT, SHARING, ("savepoints",))
    assert [path.name for path in tmp_path.iterdir()] == ["beside.txt"]
    with pytest.raises(TableNotFoundError):
        plan_drop(storage, clock, SHARING)


def test_an_empty_rest_of_a_drop_is_ended(tmp_path):
    (tmp_path / "t" / ".hoodie").mkdir(parents=True)
    storage = LocalStorage(str(tmp_path / "t"))
    assert is_emptied(storage)
    assert run_drop(storage, SystemClock(), NO_WAIT, SHARING).continued
    assert not (tmp_path / "t").exists()


def test_a_table_in_the_middle_of_a_move_is_not_dropped(tmp_path):
    create(tmp_path / "t")
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").rename(tmp_path / "t" / ".hoodie" / "moving.properties")
    with pytest.raises(PendingInstantError, match="all its rows are here"):
        run_drop(LocalStorage(str(tmp_path / "t")), SystemClock(), NO_WAIT, SHARING, ("savepoints",))
    with pytest.raises(TableNotFoundError, match=r"run the same move again\.$"):
        HoodieTable.open(str(tmp_path / "t"))


class CreatingStorage(LocalStorage):
    """Another process creates a table here as soon as the last mark of a drop is gone."""

    def delete(self, path):
        super().delete(path)
        if path == DROPPED:
            create(self.base_path).write(batch([("new", "p", 1, 1)]))


def test_a_table_that_is_created_as_a_drop_ends_stays(tmp_path):
    create(tmp_path / "t").write(batch([("old", "p", 1, 1)]))
    run_drop(CreatingStorage(str(tmp_path / "t")), SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(tmp_path / "t")) == {"new": ("p", 1, 1)}
