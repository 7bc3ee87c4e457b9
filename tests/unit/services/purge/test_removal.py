"""Old files that a purge removes, and those that something holds back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie import HoodieTable, Purge
from hoodie.doctor.finding import Severity
from hoodie.model.commit import CommitMetadata
from hoodie.services.purge.erasure import Erasure
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view.savepoints import savepoints
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

PERSON = "person-4711"
PURGE = Purge(f"id = '{PERSON}'")


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for step in range(2):
        table.write(batch([(PERSON, "p", step, step), ("other-12", "q", step, step)]), "upsert", SMALL_BLOOM)
    return table


def test_a_write_under_way_holds_its_files(table):
    state = table.state()
    time = new_time(state, table.clock)
    requested = instants.request(state, time, Action.COMMIT, b"")
    instants.start(state, requested, state.layout.encode_commit(CommitMetadata("UPSERT"), replace=False))
    base = next(file.path for part in state.files.all() for file in part.base_files if file.partition == "part=p")
    table.storage.create(f"part=p/aaaa-0_0-0-1_{time}.parquet", table.storage.read(base))
    (held,) = (file for file in table.explain(PURGE).plan.removal.held_files)
    assert held.by == f"commit {time} is not complete"


def test_files_of_killed_attempts_go(table):
    base = next(file for part in table.state().files.all() for file in part.base_files if file.partition == "part=p")
    stray = f"part=p/bbbb-0_9-9-9_{base.instant}.parquet"
    table.storage.create(stray, table.storage.read(base.path))
    assert stray in {file.path for file in table.explain(PURGE).plan.removal.files}
    assert table.run(PURGE).is_erased
    assert table.storage.info(stray) is None


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_savepoint_of_before_the_rows_keeps_its_files(tmp_path, kind):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind})
    table.write(batch([("other-12", "p", 0, 0)]), "upsert", SMALL_BLOOM)
    table.savepoint()
    table.write(batch([(PERSON, "p", 1, 1), ("other-12", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert table.run(replace(PURGE, delete_savepoints=True)).is_erased
    kept = [path for savepoint in savepoints(table.state()) for path in savepoint.paths]
    assert all(table.storage.info(path) is not None for path in kept)
    assert len(kept) == 1


def test_the_log_of_a_killed_write_is_not_passed_over(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(2):
        table.write(batch([(PERSON, "p", step, step), ("other-12", "p", 7, 7 + 70 * step)]), "upsert", SMALL_BLOOM)
    last = table.timeline.commits[-1]
    table.storage.delete(f"{table.state().layout.folder}/{last.file_name}")
    done = table.run(Purge("value = 77"))
    assert done.decision.plan is None
    assert {file.by for file in done.remaining.removal.held_files} == {f"deltacommit {last.time} is not complete"}
    assert not done.is_erased


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_savepoint_that_is_made_during_the_purge_keeps_its_files(tmp_path, kind, monkeypatch):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind})
    table.write(batch([(PERSON, "p", 1, 1), ("other-12", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    before = content(table)
    rewrite, made = Erasure._rewrite, []

    def beside(self, *given):
        made.append(HoodieTable.open(table.base_path, clock=table.clock).savepoint(table.timeline.commits[0].time))
        rewrite(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Erasure, "_rewrite", beside)
        purge = replace(PURGE, delete_savepoints=True)
        assert not table.run(purge).is_erased
    assert len(made) == 1
    assert table.diagnose().severity is not Severity.DAMAGE
    assert content(table, as_of=made[0].instant) == before
    assert table.run(purge).is_erased, "the next run deletes the savepoint, too"
    assert table.savepoints() == []
