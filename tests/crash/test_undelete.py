"""Cleans that set files aside, and undeletes, killed at any storage call: no file is lost, and the next run finishes."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, Undelete
from hoodie.storage import LocalStorage, walk_files
from hoodie.transaction.audit import audit_names, read_audit
from hoodie.transaction.trash import FOLDER
from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure
from tests.support.tables import SMALL_BLOOM, batch, content, create

GRACE = {"hoodie.clean.commits.retained": 1, "hoodie.delete.grace.hours": 24}
WAYS = [("9", "kill", False), ("9", "kill", True), ("6", "full", False)]


def prepared(path, version):
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
    for step in range(3):
        table.write(batch([("a", "p", step, step), ("c", "q", step, step)]), "upsert", SMALL_BLOOM)
    return table


def names(storage):
    """Paths of the table's data files, and of those that were set aside."""
    files = {file.path for file in walk_files(storage, "") if file.name.endswith(".parquet")}
    aside = {path.split("/", 3)[3] for path in files if path.startswith(FOLDER)}
    return {path for path in files if not path.startswith(".hoodie")}, aside


@pytest.mark.parametrize(("version", "kind", "half"), WAYS)
def test_a_clean_that_sets_aside_and_dies_at_any_call(tmp_path, version, kind, half):
    all_of_them, _ = names(prepared(tmp_path / "done", version).storage)
    now = content(reopen(LocalStorage(str(tmp_path / "done")), FakeClock()))
    for storage, clock, call in run_to_failure(
        tmp_path, lambda path: prepared(path, version), lambda table: table.run(CLEAN, GRACE), kind, half
    ):
        all_of_them, _ = names(LocalStorage(str(tmp_path / "origin")))
        table = reopen(storage, clock)
        assert set.union(*names(storage)) == all_of_them, call
        assert content(table) == now, call
        table.run(CLEAN, GRACE)
        there, aside = names(storage)
        assert (len(there), len(aside)) == (4, 2), call
        assert there | aside == all_of_them, call
        assert table.timeline.pending == (), call
        table.run(Undelete())
        assert names(storage) == (all_of_them, set()), call
        assert content(table) == now, call


@pytest.mark.parametrize(("version", "kind", "half"), WAYS)
def test_an_undelete_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        prepared(path, version).run(CLEAN, GRACE)

    prepare(tmp_path / "done")
    done = reopen(LocalStorage(str(tmp_path / "done")), FakeClock())
    now, first = content(done), done.timeline.commits[0].time
    for storage, clock, call in run_to_failure(tmp_path, prepare, lambda table: table.run(Undelete()), kind, half):
        all_of_them = set.union(*names(LocalStorage(str(tmp_path / "origin"))))
        table = reopen(storage, clock)
        assert set.union(*names(storage)) == all_of_them, call
        assert content(table) == now, call
        table.run(Undelete())
        assert names(storage) == (all_of_them, set()), call
        assert content(table) == now, call
        assert content(table, as_of=first) == {"a": ("p", 0, 0), "c": ("q", 0, 0)}, call
        noted = [read_audit(storage, name) for name in audit_names(storage) if name.action == "undelete"]
        assert {file.path for entry in noted for file in entry.files} >= all_of_them - names(
            LocalStorage(str(tmp_path / "origin"))
        )[0], call
        table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**now, "a": ("p", 9, 9)}, call
