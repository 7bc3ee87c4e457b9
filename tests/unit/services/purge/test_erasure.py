"""A purge erases rows from every file under the table, in each kind of table, and says what still holds them."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest

from hoodie import CLEAN, CLUSTERING, HoodieTable, Purge
from hoodie.errors import PendingInstantError
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.purge import erasure
from hoodie.services.purge.search import FileSearch
from hoodie.storage import walk_files
from hoodie.transaction.audit import audit_names, read_audit
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

PERSON = "person-4711"
WHERE = f"id = '{PERSON}'"
KINDS = list(itertools.product(("9", "6"), ("COPY_ON_WRITE", "MERGE_ON_READ")))
OTHERS = {"other-12": ("p", 2, 2), "third-13": ("q", 2, 2)}


def made(path, version="9", kind="COPY_ON_WRITE", steps=3, **options):
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": kind, **options})
    for step in range(steps):
        rows = [(PERSON, "p", step, step), ("other-12", "p", step, step), ("third-13", "q", step, step)]
        table.write(batch(rows), "upsert", SMALL_BLOOM)
    return table


def holding(table, text=PERSON):
    """Files whose bytes have the text."""
    files = walk_files(table.storage, "")
    return {file.path for file in files if text.encode() in table.storage.read(file.path)}


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_no_file_holds_the_rows(tmp_path, version, kind):
    for number, partitions in enumerate(("part", "")):
        table = made(tmp_path / str(number), version, kind, **{"hoodie.table.partition.fields": partitions})
        decision = table.explain(Purge(WHERE))
        assert decision.facts["rows"] == 1
        assert decision.facts["keys"] == 1
        assert PERSON not in decision.reason
        done = table.run(Purge(WHERE))
        assert done.is_erased
        assert done.rows == 1
        assert content(table) == OTHERS
        assert holding(table) == set()
        assert not list(walk_files(table.storage, ".hoodie/.purge"))
        assert table.timeline.pending == ()
        again = table.run(Purge(WHERE))
        assert again.decision.plan is None
        assert again.is_erased
        assert Purge(WHERE).report(again)[0] == "nothing to erase: a search of every file found nothing"
        table.write(batch([("new-1", "p", 9, 9)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**OTHERS, "new-1": ("p", 9, 9)}


def test_the_audit_names_the_hash_and_the_counts_without_the_value(tmp_path):
    table = made(tmp_path / "t")
    table.run(Purge(WHERE))
    (name,) = [name for name in audit_names(table.storage) if name.action == "purge"]
    entry = read_audit(table.storage, name)
    assert "SHA-256 " in entry.planned["why"]
    assert "1 row in the table" in entry.planned["why"]
    assert entry.planned["user"]
    assert entry.outcome["rows_deleted"] == 1
    assert entry.outcome["erased"] is True
    assert PERSON not in json.dumps([entry.planned, entry.outcome])


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_keys_that_were_deleted_before_leave_footers_and_logs(tmp_path, kind):
    table = made(tmp_path / "t", kind=kind)
    table.write(batch([(PERSON, "p", 9, 9)]), "delete", SMALL_BLOOM)
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    table.run(CLEAN, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1})
    assert holding(table), "the footer keeps the greatest key"
    done = table.run(Purge(WHERE))
    assert done.rows == 0
    assert done.is_erased
    assert holding(table) == set()
    assert content(table) == OTHERS


def test_replaced_groups_and_copies_set_aside_go(tmp_path):
    table = made(tmp_path / "t")
    table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": True}, force=True)
    table.run(CLUSTERING)
    table.write(batch([("other-12", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.delete.grace.hours": 24})
    assert any(path.startswith(".hoodie/.deleted/") for path in holding(table))
    assert table.explain(Purge(WHERE)).plan.copies
    assert table.run(Purge(WHERE)).is_erased
    assert holding(table) == set()
    assert content(table) == OTHERS


def test_a_savepoint_holds_until_it_is_deleted(tmp_path):
    table = made(tmp_path / "t", kind="MERGE_ON_READ")
    saved = table.savepoint().instant
    done = table.run(Purge(WHERE))
    assert not done.is_erased
    assert {file.by for file in done.remaining.removal.held_files} == {
        f"savepoint {saved} keeps it until it is deleted"
    }
    message, _ = Purge(WHERE).report(done)
    assert "not everything is erased" in message
    assert "--delete-savepoints" in message
    assert content(table) == OTHERS
    (name,) = [name for name in audit_names(table.storage) if name.action == "purge"]
    assert read_audit(table.storage, name).outcome["held"] == 4  # the base file, its logs, and the log of the deletion
    assert table.run(Purge(WHERE, delete_savepoints=True)).is_erased
    assert table.savepoints() == []
    assert holding(table) == set()


def test_a_consumer_holds_what_it_has_not_read(tmp_path):
    table = made(tmp_path / "t")
    consumer = table.consumer("reports")
    consumer.reset(table.timeline.commits[-1].time)
    done = table.run(Purge(WHERE))
    assert not done.is_erased
    assert all("consumer 'reports'" in file.by for file in done.remaining.removal.held_files)
    assert "at the latest until 2026-01-08 00:00 UTC" in done.remaining.removal.held_files[0].by
    assert table.read_changes(table.timeline.commits[2].completion_time)["op"].to_pylist() == ["d"]
    consumer.read()
    consumer.commit()
    assert table.run(Purge(WHERE)).is_erased, "the consumer has read the deletion"
    assert holding(table) == set()
    table.write(batch([(PERSON, "p", 9, 9)]), "upsert", SMALL_BLOOM)
    assert not table.run(Purge(WHERE)).is_erased
    assert table.run(Purge(WHERE, past_consumers=True)).is_erased
    assert holding(table) == set()


def test_a_plan_of_others_is_to_be_carried_out_first(tmp_path):
    table = made(tmp_path / "t", kind="MERGE_ON_READ")
    table.schedule(COMPACTION, force=True)
    with pytest.raises(PendingInstantError) as failed:
        table.run(Purge(WHERE))
    assert "hudi-services compact" in str(failed.value)
    table.run(COMPACTION)
    assert table.run(Purge(WHERE)).is_erased


def test_an_old_version_that_met_the_condition_goes_and_the_row_stays(tmp_path):
    table = made(tmp_path / "t")
    done = table.run(Purge("value = 1"))
    assert done.rows == 0
    assert done.is_erased
    assert content(table) == {PERSON: ("p", 2, 2), **OTHERS}
    view = TableView(table.state())
    assert all(len(group.slices) == 1 for group in view.groups)


def test_change_data_logs_and_virtual_keys(tmp_path):
    for number, options in enumerate(
        (
            {"hoodie.table.cdc.enabled": True, "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"},
            {"hoodie.table.cdc.enabled": True, "hoodie.table.cdc.supplemental.logging.mode": "OP_KEY_ONLY"},
            {"hoodie.populate.meta.fields": False},
        )
    ):
        table = made(tmp_path / str(number), **options)
        assert table.run(Purge(WHERE)).is_erased
        assert holding(table) == set()
        assert content(table) == OTHERS


def test_the_next_clean_looks_at_what_the_purge_left(tmp_path):
    table = made(tmp_path / "t")
    table.run(Purge(WHERE))
    done = table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert done.files_deleted >= 1, "old versions in partition q"


def test_a_row_that_another_writer_changed_in_between_stays(tmp_path, monkeypatch):
    table = made(tmp_path / "t")
    real, others = erasure.current_rows, [("other-12", "p", 99, 99)]

    def others_first(*args):
        rows = real(*args)
        if others:
            HoodieTable.open(str(tmp_path / "t")).write(batch([others.pop()]), "upsert", SMALL_BLOOM)
        return rows

    monkeypatch.setattr(erasure, "current_rows", others_first)
    done = table.run(Purge("id = 'other-12' and value = 2"))
    assert done.rows == 0
    assert content(table)["other-12"] == ("p", 99, 99)


def test_the_keys_stay_for_the_next_run_until_everything_is_erased(tmp_path):
    table = made(tmp_path / "t")
    table.storage.create(".hoodie/note.txt", PERSON.encode())
    purge = Purge("value = 2 and id like '%4711'")  # no text of the condition is in the note
    for _run in range(2):
        done = table.run(purge)
        assert not done.is_erased
        assert [trace.path for trace in done.remaining.unhandled] == [".hoodie/note.txt"]
        assert ".hoodie/.purge keeps the keys" in purge.report(done)[0]
        keys = [file for file in walk_files(table.storage, ".hoodie/.purge") if file.name.endswith(".arrow")]
        assert len(keys) == 1
    table.storage.delete(".hoodie/note.txt")
    assert table.run(purge).is_erased
    assert not list(walk_files(table.storage, ".hoodie/.purge"))


def test_keys_leave_the_journal_of_another_condition_too(tmp_path, monkeypatch):
    table = made(tmp_path / "t")
    with monkeypatch.context() as broken:
        broken.setattr(erasure.Erasure, "_erase", lambda *_args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            table.run(Purge(f"id in ('{PERSON}', 'other-12')"))
    assert table.run(Purge(WHERE)).is_erased
    assert holding(table) == set()
    assert any(path.startswith(".hoodie/.purge/") for path in holding(table, "other-12")), "the other purge can go on"


def test_virtual_keys_of_rows_that_stay_are_no_traces(tmp_path):
    table = made(tmp_path / "t", **{"hoodie.populate.meta.fields": False})
    done = table.run(Purge("value = 1"))
    assert done.is_erased
    assert done.rows == 0
    assert content(table) == {PERSON: ("p", 2, 2), **OTHERS}


def test_a_column_in_quotes_is_searched_as_it_is_read(tmp_path):
    table = made(tmp_path / "t")
    decision = table.explain(Purge(f"\"id\" = '{PERSON}'"))
    assert decision.plan.subject.values == {PERSON}
    assert table.run(Purge(f"\"id\" = '{PERSON}'")).is_erased
    assert holding(table) == set()


@pytest.mark.parametrize(("deleted", "searches"), [(False, 1), (True, 2)])
def test_an_untouched_file_is_searched_once_unless_files_hold_more_keys(tmp_path, monkeypatch, deleted, searches):
    """Keys of rows that the table does not show any more are known only after a search."""
    table = made(tmp_path)
    if deleted:
        table.write(batch([(PERSON, "p", 9, 9)]), "delete", SMALL_BLOOM)
    seen = Counter()
    search_file = FileSearch.__call__

    def counted(self, file):
        seen[file.info.path.partition("/")[0]] += 1
        return search_file(self, file)

    monkeypatch.setattr(FileSearch, "__call__", counted)
    versions = len(list(walk_files(table.storage, "part=q"))) - 1  # without the file that marks the partition
    assert table.run(Purge(WHERE)).is_erased
    assert seen["part=q"] == searches * versions + searches + 1
    assert holding(table) == set()
