"""The audit of what was deleted: noted before the first delete, and once more when it is done."""

import json

import pytest

from hoodie import CLEAN
from hoodie.errors import CorruptTableError, HoodieError
from hoodie.services.restore.service import Restore
from hoodie.storage.base import walk_files
from hoodie.transaction.audit import FOLDER, Audited, AuditedFile, audit_names, audited, read_audit
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path, clock):
    return create(tmp_path / "t", clock, **{"hoodie.write.table.version": request.param})


def upsert(table, *entries):
    return table.write(batch(entries), "upsert", SMALL_BLOOM).instant.time


def entries(table):
    return [read_audit(table.storage, name) for name in audit_names(table.storage)]


def data_files(table):
    return {file.path: file.size for file in walk_files(table.storage, "") if file.name.endswith(".parquet")}


def test_a_clean(table, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CTX_DAG_ID", "hudi_clean__orders")
    monkeypatch.setenv("AIRFLOW_CTX_DAG_RUN_ID", "manual__1")
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    before = data_files(table)
    done = table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).results[0]
    (entry,) = entries(table)
    gone = {path: size for path, size in before.items() if path not in data_files(table)}
    assert {file.path: file.bytes for file in entry.files} == gone
    assert all(file.reason for file in entry.files)
    assert (entry.instant, entry.action) == (done.start, "clean")
    assert entry.planned["plan"].endswith(f"{done.start}.clean.requested")
    assert "KEEP_LATEST_COMMITS" in entry.planned["why"]
    assert entry.planned["airflow"] == {"dag_id": "hudi_clean__orders", "dag_run_id": "manual__1"}
    assert all(entry.planned[name] for name in ("user", "host", "program", "pid", "at"))
    assert entry.outcome["at"] >= entry.planned["at"]


def test_a_clean_that_is_cut_short_is_noted_before_its_first_delete_and_ended_by_the_next(table, monkeypatch):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    real = type(table.storage).delete
    refused = []

    def refuse(self, path):
        if path.endswith(".parquet"):
            refused.append([entry.outcome for entry in entries(table)])
            raise OSError("no")
        return real(self, path)

    monkeypatch.setattr(type(table.storage), "delete", refuse)
    with pytest.raises(HoodieError, match="could not delete"):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    monkeypatch.undo()
    assert refused == [[None]]
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    (entry,) = entries(table)
    assert entry.outcome is not None
    assert entry.files[0].bytes  # as the first run noted it: the plan on the timeline has no sizes


def test_nothing_is_deleted_where_nothing_can_be_noted(table, monkeypatch):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    before, real = data_files(table), type(table.storage).create

    def refuse(self, path, data):
        if path.startswith(FOLDER):
            raise PermissionError(13, "Permission denied", path)
        return real(self, path, data)

    monkeypatch.setattr(type(table.storage), "create", refuse)
    with pytest.raises(OSError, match="Permission denied"):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert data_files(table) == before


def test_a_restore_notes_each_instant_that_it_takes_back(table):
    saved = upsert(table, ("a", "p", 0, 0))
    table.savepoint()
    times = [upsert(table, ("b", "q", step, step)) for step in (1, 2)]
    table.run(Restore(saved))
    found = entries(table)
    assert {entry.action for entry in found} == {"rollback"}
    assert (
        sorted(time for time in times for entry in found if f" {time} came after savepoint" in entry.planned["why"])
        == times
    )
    assert sum(len(entry.files) for entry in found) == 2
    assert content(table) == {"a": ("p", 0, 0)}


def test_a_clean_that_deletes_nothing_is_not_noted(table):
    upsert(table, ("a", "p", 0, 0))
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert entries(table) == []


def test_the_same_instant_with_other_files_is_another_entry(table, clock):
    action = Audited("20260101000000000", "rollback", "why", "plan")
    for path in ("p/a", "p/a", "p/b"):
        with audited(table.storage, clock, action, [AuditedFile(path)]):
            pass
    assert sorted(entry.files[0].path for entry in entries(table)) == ["p/a", "p/b"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]\n", b"\xff\xfe", b"null\n"])
def test_a_torn_entry_is_told_by_name(table, body):
    path = f"{FOLDER}/20260101000000000.clean.12345678.planned.jsonl"
    table.storage.create(path, body)
    with pytest.raises(CorruptTableError, match=path):
        entries(table)


def test_names_of_others_are_passed_over(table):
    for name in (
        "x.planned.jsonl",
        "notes.txt",
        "a.clean.b.planned.jsonl",
        "1.2.3.4.planned.jsonl",
        "17.clean.1.planned.jsonl",
    ):
        table.storage.create(f"{FOLDER}/{name}", json.dumps({}).encode())
    assert audit_names(table.storage) == []
