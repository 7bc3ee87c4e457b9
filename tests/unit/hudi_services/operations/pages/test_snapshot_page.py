"""Snapshot numbers on the page of a table: those of `hudi-services show`."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from hoodie import COMPACTION, HoodieTable
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.contents import slices
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import look_at
from hudi_services.operations.pages.snapshot_page import SnapshotPage, seen
from hudi_services.operations.watch.groups import groups
from hudi_services.operations.watch.model import Snapshot
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    """Merge on read, with logs in one of two partitions and a compaction that waits."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in (1, 2):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b", "<i>", 1, 1)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
    return table


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore.open(str(tmp_path / "store.db"), make=True)


def snapshot(table: HoodieTable, store: SnapshotStore) -> Snapshot:
    look(Table(name="t", base_path=str(table.base_path)), store, table.clock)
    found = store.table("t")
    assert found is not None
    return found


def page(table: HoodieTable, store: SnapshotStore) -> SnapshotPage:
    found = seen("t", snapshot(table, store), store.newest("t"))
    assert found is not None
    return found


def test_numbers_are_those_that_show_prints(table: HoodieTable, store: SnapshotStore) -> None:
    shown = overview(look_at(ChosenTable(str(table.base_path), None), table.clock)).values
    found = page(table, store)
    facts = {each.name: each.value for each in found.facts}
    assert facts["rows in base files"] == shown["rows_in_base_files"] == 2
    assert facts["size of base files"] == shown["base_bytes"] > 0
    assert facts["size of logs"] == shown["log_bytes"] > 0
    assert facts["last commit"] == shown["last_commit"]
    assert sum(each.bytes for each in found.partitions) == shown["base_bytes"] + shown["log_bytes"]
    assert sum(each.files for each in found.sizes) == shown["base_files"]
    json.dumps(asdict(found))


def test_partitions_have_their_logs(table: HoodieTable, store: SnapshotStore) -> None:
    found = {each.path: (each.file_groups, each.log_files) for each in page(table, store).partitions}
    assert found == {"part=p": (1, 1), "part=<i>": (1, 0)}


def test_a_plan_that_waits_names_the_service_that_carries_it_out(table: HoodieTable, store: SnapshotStore) -> None:
    waiting = [each for each in page(table, store).waiting if each.kind == "pending"]
    assert [each.commands for each in waiting] == [("hudi-services compact --table t",)]
    assert waiting[0].text.startswith("compaction ")
    assert waiting[0].since is not None


def test_instants_say_what_they_wrote(table: HoodieTable, store: SnapshotStore) -> None:
    snapshot(table, store)
    table.write(batch([("a", "p", 9, 9), ("c", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    found = page(table, store).instants
    newest = max((each for each in found if each.state == "completed"), key=lambda each: each.instant)
    assert (newest.action, newest.operation, newest.rows, newest.partitions) == ("deltacommit", "upsert", 2, 1)
    assert newest.bytes
    waiting = next(each for each in found if each.state == "requested")
    assert (waiting.action, waiting.completed, waiting.rows) == ("compaction", None, None)


def test_what_events_tell_of_older_instants_is_shown(table: HoodieTable, store: SnapshotStore) -> None:
    snapshot(table, store)
    for step in range(10, 17):  # more than the overview shows
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    assert [each.rows for each in page(table, store).instants if each.state == "completed"][:7] == [1] * 7


def test_problems_and_pauses_come_with_the_command_that_helps(table: HoodieTable, store: SnapshotStore) -> None:
    whole = snapshot(table, store)
    told = {**whole.body["table"], "problems": ["A file is missing"], "paused": {"told": "by ann: a move"}}
    told["locks"] = [{"path": ".hoodie/lock", "holder": "process 7 of h", "alive": False, "age": 60.0}]
    fix = "see `hudi-services show locks`, or run `hudi-services rollback --instant 7`"
    blocker = {"service": "clean", "held": "3 files", "action": "savepoint", "instant": "7", "reason": "kept"}
    told["blockers"] = [{**blocker, "age": 5.0, "fix": fix}]
    found = seen("t", replace(whole, body={**whole.body, "table": told}), ())
    assert found is not None
    commands = {each.kind: each.commands for each in found.waiting}
    assert commands == {
        "problem": ("hudi-services doctor --table t",),
        "paused": ("hudi-services resume --table t",),
        "held back": ("hudi-services show locks --table t", "hudi-services rollback --instant 7 --table t"),
        "pending": ("hudi-services compact --table t",),
        "lock": ("hudi-services unlock --table t",),
    }
    assert all(line in each.text for each in found.waiting if each.kind == "held back" for line in each.commands)


def test_a_problem_has_all_commands_of_the_remedy_and_says_which_is_for_what(
    table: HoodieTable, store: SnapshotStore
) -> None:
    whole = snapshot(table, store)
    remedy = "take it back: `hudi-services rollback --instant 7`, then `hudi-services ingest`"
    findings = [{"grave": True, "remedy": remedy}]
    told = {**whole.body["table"], "problems": ["A file is missing"], "findings": findings}
    found = seen("t", replace(whole, body={**whole.body, "table": told}), ())
    assert found is not None
    (problem,) = [each for each in found.waiting if each.kind == "problem"]
    assert problem.commands == ("hudi-services rollback --instant 7 --table t", "hudi-services ingest --table t")
    assert problem.remedy == f"take it back: `{problem.commands[0]}`, then `{problem.commands[1]}`"


def test_a_table_that_was_never_read_shows_nothing(store: SnapshotStore, tmp_path: Path) -> None:
    look(Table(name="t", base_path=str(tmp_path / "nowhere")), store, FakeClock())
    found = store.table("t")
    assert found is not None
    assert seen("t", found, ()) is None


def test_a_write_that_goes_on_tells_how_many_files_it_has_begun(table: HoodieTable, store: SnapshotStore) -> None:
    time = "20991231000000000"
    for state in ("requested", "inflight"):
        Path(table.base_path, ".hoodie/timeline", f"{time}.deltacommit.{state}").write_bytes(b"")
    folder = Path(table.base_path, f".hoodie/.temp/{time}/part=p")
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}_0-0-0_{time}.parquet.marker.CREATE").write_bytes(b"")
    shown = overview(look_at(ChosenTable(str(table.base_path), None), table.clock)).values
    assert [(each["state"], each["markers"]) for each in shown["pending"]] == [("REQUESTED", None), ("INFLIGHT", 2)]
    (told,) = [each.text for each in page(table, store).waiting if each.kind == "pending" and time in each.text]
    assert told == f"deltacommit {time}, inflight, 2 data files begun by its markers"


def test_file_groups_that_want_a_service_are_shown(table: HoodieTable, store: SnapshotStore) -> None:
    found = page(table, store)
    assert [(each.partition, each.slices, each.log_files, each.log_bytes > 0) for each in found.groups] == [
        ("part=<i>", 1, 0, False),
        ("part=p", 1, 1, True),
    ]
    shown = {
        each["file_group"]: each
        for each in slices(look_at(ChosenTable(str(table.base_path), None)), None, everything=False).values["slices"]
    }
    for each in found.groups:
        row = shown[each.file_group]
        assert (each.base_bytes, each.log_files, each.log_bytes) == (
            row["base_bytes"],
            row["log_files"],
            row["log_bytes"],
        )
        assert (each.since, each.older_bytes) == (row["base_instant"], 0)
    assert found.groups_left_out == 0
    table.run(COMPACTION)
    old = {each.partition: (each.slices, each.older_bytes > 0, each.log_files) for each in page(table, store).groups}
    assert old["part=p"] == (2, True, 0)


def test_of_many_file_groups_those_are_shown_that_want_a_service_most(
    table: HoodieTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hudi_services.operations.watch.groups._MOST", 1)
    for number in range(6):
        apart = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
        table.write(batch([(f"k{number}", "q", 1, 1)]), "insert", apart)
    rows, left_out = groups(look_at(ChosenTable(str(table.base_path), None), table.clock))
    assert left_out == 8 - len(rows)
    assert max(row["log_bytes"] for row in rows) > 0
    assert len(rows) <= 3


def test_consumers_of_changes(table: HoodieTable, store: SnapshotStore) -> None:
    assert page(table, store).consumers == ()
    table.consumer("slow").reset("earliest")
    table.consumer("done").reset("latest")
    table.clock.sleep(3600 * 24 * 8)
    done, slow = page(table, store).consumers
    assert (done.commits_behind, done.since, done.held_until, done.passed) == (0, None, None, False)
    assert (slow.position, slow.commits_behind, slow.passed) == (None, 3, True)
    assert slow.since is not None
    assert slow.held_until is not None
    assert slow.since < slow.held_until < store.fleet()[0].looked_at.isoformat()
    assert store.fleet()[0].passed == ("slow",)


def test_skew_has_the_sizes_of_partitions_and_files(table: HoodieTable, store: SnapshotStore) -> None:
    found = page(table, store)
    sizes = sorted(each.bytes for each in found.partitions)
    shown = found.skew["partitions"]
    assert (shown.count, shown.smallest, shown.largest, shown.path) == (2, sizes[0], sizes[1], "part=p")
    assert shown.share == pytest.approx(sizes[1] / sum(sizes))
    assert found.skew["files"].count == 2


def test_numbers_keep_the_time_of_the_last_good_look(table: HoodieTable, store: SnapshotStore) -> None:
    before = page(table, store).measured_at
    table.clock.sleep(3600)
    for file in Path(str(table.base_path)).glob(".hoodie/hoodie.properties*"):
        file.write_text("torn")
    found = snapshot(table, store)
    after = seen("t", found, ())
    assert after is not None
    assert (found.summary.health, after.measured_at) == ("unreadable", before)
    assert after.looked_at != before


def test_services_have_their_last_success(table: HoodieTable, store: SnapshotStore) -> None:
    assert snapshot(table, store).summary.successes == {}
    table.run(COMPACTION)
    done = snapshot(table, store).summary.successes
    assert list(done) == ["compact"]
    assert done["compact"] == snapshot(table, store).body["table"]["last_commits"][0]["completed"]
