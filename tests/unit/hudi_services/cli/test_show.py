"""Looking at a table, and its lock."""

from __future__ import annotations

import io
import json
import os
import re

import pytest

from hoodie import LOG_COMPACTION, HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import MissingFileError
from hoodie.storage import ListingCache, LocalStorage
from hoodie.transaction.locks import service_lock, table_lock
from hoodie.transaction.locks.lease import TABLE_LOCK
from hoodie.view import load_state
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.history import commits, timeline
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import Look, look_at
from tests.support.archive import archive_before
from tests.support.cli import DONE, FAILED, USAGE, everything, fill, ingest, said
from tests.support.counting import CountingStorage
from tests.support.locks import NO_WAIT
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create


def look(capsys, path, *what, code=DONE):
    """The output of a look: text, and its values as JSON."""
    shown = []
    for more in ([], ["--json"]):
        assert main(["show", *what, f"--target-base-path={path}", *more]) == code
        shown.append(capsys.readouterr().out)
    return shown[0], json.loads(shown[1])


@pytest.mark.parametrize("version", ["6", "9"])
def test_the_timeline_and_the_commits_newest_first(tmp_path, version, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.write.table.version": version})
    fill(table)
    first, _, last = table.timeline
    (path / table.state().layout.folder / "20990101000000000.clean.requested").write_bytes(b"x")
    text, found = look(capsys, path, "timeline")
    assert [row["state"] for row in found["timeline"]] == ["REQUESTED", *["COMPLETED"] * 3]
    assert [line.split()[0] for line in text.splitlines()[1:]] == [row["instant"] for row in found["timeline"]]
    assert found["timeline"][-1]["instant"] == first.time
    text, found = look(capsys, path, "commits")
    assert [(row["instant"], row["operation"]) for row in found["newest"]] == [
        (instant.time, "UPSERT") for instant in reversed(table.timeline.commits)
    ]
    counted = [
        [row[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted", "written")] for row in found["newest"]
    ]
    assert counted == [[0, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1]]
    assert all(row["seconds"] >= 0 and row["partitions"] == 1 and row["bytes_written"] > 0 for row in found["newest"])
    text, found = look(capsys, path, "commits", "--limit=1")
    assert [row["instant"] for row in found["newest"]] == [last.time]
    assert "older ones follow: --limit 2" in text
    assert found["older"] is True
    text, _ = look(capsys, path, "properties")
    assert f"hoodie.table.version={version}" in text.splitlines()


def test_files_and_slices_are_shown_with_their_own_sizes(tmp_path, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    fill(table)
    _, found = look(capsys, path, "files")
    assert [file["kind"] for file in found["files"]] == ["base", "log", "log"]
    assert all(file["bytes"] == (path / file["path"]).stat().st_size for file in found["files"])
    _, found = look(capsys, path, "slices")
    [one] = found["slices"]
    assert (one["rows"], one["log_files"], one["current"], one["partition"]) == (1, 2, True, "part=p")
    assert main(["show", "slices", f"--target-base-path={path}", "--partition=part=q"]) == USAGE
    assert "has no partition 'part=q'" in said(capsys)
    text, found = look(capsys, path, "logs")
    assert [(block["kind"], block["counts"]) for block in found["blocks"]] == [("PARQUET_DATA", True)] * 2
    assert "row numbers" in text
    assert main(["show", "logs", f"--target-base-path={path}", "--file-group=gone"]) == USAGE
    assert f"`hudi-services show slices --target-base-path {path}`" in said(capsys)


@pytest.mark.parametrize("version", ["6", "9"])
def test_rows_of_logs_are_counted_by_commits_archived_ones_too(tmp_path, version, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version})
    fill(table)
    table.write(batch([("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 4, 4)]), "delete", SMALL_BLOOM)
    text, found = look(capsys, path, "table")
    assert [found[name] for name in ("rows_in_base_files", "rows_in_logs", "deletions_in_logs")] == [2, 2, 1]
    assert "2 in base files; logs lay 2 rows and 1 deletion over them" in text
    _, found = look(capsys, path, "partitions")
    counted = [[row[name] for name in ("rows", "log_rows", "log_deletions")] for row in found["partitions"]]
    assert counted == [[1, 2, 1], [1, 0, 0]]
    _, before = look(capsys, path, "slices")
    assert sorted(row["log_rows"] for row in before["slices"]) == [0, 2]
    archive_before(table, table.timeline.commits[-1].time)
    assert look(capsys, path, "slices")[1] == before


def test_a_log_compaction_writes_no_rows_of_its_own(tmp_path, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    fill(table)
    table.run(LOG_COMPACTION, time=table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2}))
    _, found = look(capsys, path, "table")
    assert (found["log_files"], found["rows_in_logs"]) == (3, 2)


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("page", [("timeline", "timeline"), ("commits", "newest")], ids=lambda page: page[0])
def test_archived_instants_are_shown_when_asked(tmp_path, version, page, capsys):
    name, field = page
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.write.table.version": version})
    fill(table)
    fill(table)
    times = [instant.time for instant in reversed(table.timeline.commits)]
    _, whole = look(capsys, path, name)
    archive_before(table, times[0])

    def shown(*flags):
        text, found = look(capsys, path, name, *flags)
        assert ("older ones follow" in text) is found["older"]
        return [row["instant"] for row in found[field]], found

    assert shown()[0] == times[:1]
    every, found = shown("--archived")
    assert every == times
    assert [row["archived"] for row in found[field]] == [False, *[True] * 5]
    kept = ("instant", "began", "operation", "rows_written", "bytes_written")
    assert [[row.get(key) for key in kept] for row in found[field]] == [
        [row.get(key) for key in kept] for row in whole[field]
    ]
    assert shown("--archived", "--limit=4")[0] == times[:4]
    assert shown(f"--since={times[3]}")[0] == times[:4]
    assert shown("--since=2020-01-01", "--limit=2")[0] == times[:2]
    assert shown("--since=2999-01-01")[0] == []
    assert main(["show", name, "--since=soon", f"--target-base-path={path}"]) == USAGE
    assert "soon" in said(capsys)


def test_no_more_of_the_archive_is_read_than_is_shown(tmp_path):
    path = tmp_path / "trips"
    table = create(path)
    fill(table)
    fill(table)
    times = [instant.time for instant in table.timeline.commits]
    archive_before(table, times[-1])  # three files
    gone = min(path.glob(".hoodie/timeline/history/*.parquet"))
    gone.unlink()
    seen = look_at(ChosenTable(str(path)))
    assert len(commits(seen, 2, archived=True).values["newest"]) == 2
    assert len(timeline(seen, 20, times[3]).values["timeline"]) == 3
    with pytest.raises(MissingFileError, match=gone.name):
        timeline(seen, 20, archived=True)
    assert len(timeline(seen, 20, times[-1]).values["timeline"]) == 1


def test_older_slices_are_shown_when_asked(path, capsys):
    _, found = look(capsys, path, "slices", "--all")
    assert [each["current"] for each in found["slices"]] == [True, False, False]
    assert [each["rows"] for each in found["slices"]] == [1, 1, 1]


def test_the_overview(path, capsys):
    text, found = look(capsys, path, "table")
    assert (found["rows_in_base_files"], found["partitions"], found["base_files"], found["older_files"]) == (1, 1, 1, 2)
    assert sum(bar["files"] for bar in found["base_file_sizes"]) == 1
    assert len(found["last_commits"]) == 3
    assert found["next"]["clean"]["reason"] == "3 commits on the timeline, and 10 are retained"
    assert found["age"] >= 0
    assert (found["pending"], found["locks"], found["problems"]) == ([], [], [])
    assert "base files by size" in text
    (path / ".hoodie" / "lock").write_text('{"lockThreadName": "of another machine"}')
    (path / ".hoodie" / "timeline" / "20240101000000000.commit.requested").touch()
    text, found = look(capsys, path, "table")
    assert [row["instant"] for row in found["pending"]] == ["20240101000000000"]
    assert "of another machine" in text
    assert found["locks"][0]["alive"] is None
    _, found = look(capsys, path, "locks")
    assert found["locks"][0]["path"] == ".hoodie/lock"


def test_what_waits_to_be_compacted_and_why(tmp_path, capsys):
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    fill(table)
    text, found = look(capsys, path, "table")
    assert found["next"]["compact"]["backlog"]["log_files"] == found["log_files"] == 2
    assert "3 delta commits (of 5)" in text
    assert main(["compact", f"--target-base-path={path}", "--force"]) == DONE
    capsys.readouterr()
    _, found = look(capsys, path, "table")
    assert [row["action"] for row in found["services"]] == ["compaction"]
    assert found["log_files"] == 0


def test_the_registry_says_what_the_services_would_do(path, tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"tables: [{{name: trips, base_path: {path}, clean: {{hoodie: {{hoodie.clean.commits.retained: 1}}}}}}]\n"
    )
    assert main(["show", "table", "--table=trips", f"--registry={file}", "--json"]) == DONE
    clean = json.loads(capsys.readouterr().out)["next"]["clean"]
    assert (clean["due"], clean["items"]) == (True, 1)


def test_rows_are_counted_without_reading_any(tmp_path):
    """No data file is opened, and each folder is listed once, although the compaction looks for itself."""
    path = tmp_path / "trips"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(3):
        table.write(batch([(f"{step}{n}", f"p{n}", step, n) for n in range(4)]), "upsert", SMALL_BLOOM)
    storage, clock = CountingStorage(path), SystemClock()
    once = ListingCache(storage)
    page = overview(Look(once, load_state(once, clock), clock, clock.now()))
    assert page.values["rows_in_base_files"] == 12
    assert page.values["next"]["compact"]["backlog"]["log_files"] == 0
    listed, opened = storage.data()
    assert opened == []
    assert sorted(folder for folder in storage.listed if not folder.startswith(".hoodie")) == listed
    assert page.values["storage_calls"] == once.calls <= 25


def test_rows_of_archived_commits_are_those_of_footers(path, monkeypatch):
    seen = look_at(ChosenTable(str(path)))
    found = list(seen.view.slices)
    monkeypatch.setattr(type(seen.state.timeline), "commits", ())
    assert row_counts(seen, found).of(found)["rows"] == 1


def test_a_look_changes_nothing(path, capsys):
    before = everything(path)
    for what in ("table", "properties", "timeline", "commits", "partitions", "slices", "files", "logs", "locks"):
        look(capsys, path, what)
    assert everything(path) == before
    storage = ListingCache(LocalStorage(str(path)))
    for change in (
        lambda: storage.create("x", b""),
        lambda: storage.open_output("x"),
        lambda: storage.delete("x"),
        lambda: storage.delete_folder("x"),
        lambda: storage.sweep(["x"]),
    ):
        with pytest.raises(PermissionError):
            change()


def test_a_base_file(path, capsys):
    _, found = look(capsys, path, "files")
    text, found = look(capsys, path, "file", found["files"][0]["path"])
    assert found["rows"] == 1
    assert found["key_range"] == ["a", "a"]
    assert found["bloom_filter"]["keys"] == 1
    assert sum(found["commit_times"].values()) == 1
    columns = {column["column"]: column for column in found["columns"]}
    assert (columns["ts"]["minimum"], columns["ts"]["maximum"], columns["ts"]["nulls"]) == ("3", "3", 0)
    assert "ZSTD" in text
    for name, code in (("../x.parquet", FAILED), ("gone.parquet", USAGE)):
        assert main(["show", "file", name, f"--target-base-path={path}"]) == code
        told = said(capsys)
        assert name in told
        assert "roll" not in told  # a mistyped path is no damage


def test_an_empty_table(tmp_path, capsys):
    create(tmp_path / "new")
    for what in ("table", "timeline", "commits", "partitions", "slices", "files", "logs"):
        look(capsys, tmp_path / "new", what)
    _, found = look(capsys, tmp_path / "new", "table")
    assert found["last_commit"] is None


def test_what_is_wrong_is_told_with_the_table(path, capsys):
    state = HoodieTable.open(str(path)).state()
    torn = path / state.layout.folder / state.timeline.commits[1].file_name
    whole = torn.read_bytes()
    torn.write_bytes(whole[:40])
    text, found = look(capsys, path, "table", code=FAILED)
    assert torn.name in text
    assert torn.name in found["problems"][0]
    assert len(found["last_commits"]) == 2
    torn.write_bytes(whole)
    max(path.glob("part=p/*.parquet"), key=lambda file: file.name.split("_")[-1]).unlink()
    text, found = look(capsys, path, "table", code=FAILED)
    assert "is not there" in text or "missing" in text or "gone" in text
    assert len(found["problems"]) == 1


def test_people_on_a_terminal_get_tables(path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["show", "table", f"--target-base-path={path}"]) == DONE
    assert "base files by size" in capsys.readouterr().out


def test_a_locked_table_is_unlocked_by_hand_only(path, land, monkeypatch, capsys):
    lock = path / ".hoodie" / "lock"
    lock.write_text('{"lockThreadName": "of another machine"}')
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == FAILED
    assert re.search(
        r"LockHeldError.*of another machine.*`hudi-services unlock --target-base-path [^`]+`", said(capsys)
    )
    unlock = ["unlock", f"--target-base-path={path}"]
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert main(unlock) == FAILED
        shown = capsys.readouterr()
        assert "of another machine" in shown.out
        assert "nothing was changed" in shown.err
        assert lock.exists()
    assert main([*unlock, "--yes"]) == DONE
    assert "removed the lock" in capsys.readouterr().out
    assert not lock.exists()
    assert main(unlock) == DONE
    assert "the table is not locked" in capsys.readouterr().out
    assert ingest(path, land, "--hoodie-conf=hoodie.write.lock.wait_time_ms=0") == DONE


def test_a_program_unlocks_without_being_asked(path, capsys):
    (path / ".hoodie" / "lock").write_text('{"lockThreadName": "of another machine"}')
    assert main(["unlock", f"--target-base-path={path}", "--json"]) == USAGE
    assert "add --yes" in json.loads(capsys.readouterr().out)["what"]
    for removed in ([".hoodie/lock"], []):
        assert main(["unlock", f"--target-base-path={path}", "--json", "--yes"]) == DONE
        assert [each["path"] for each in json.loads(capsys.readouterr().out)["removed"]] == removed


def test_the_lock_of_who_is_at_work_is_removed_by_force_only(path, capsys):
    storage, unlock = LocalStorage(str(path)), ["unlock", f"--target-base-path={path}"]
    with table_lock(storage, SystemClock(), "upsert", NO_WAIT), service_lock(storage, SystemClock(), "p-7", NO_WAIT):
        (path / ".hoodie" / ".heartbeat").mkdir()
        (path / ".hoodie" / ".heartbeat" / "20260101000000000").touch()
        text, found = look(capsys, path, "locks")
        assert [(row["path"], row["kind"], row["pid"], row["alive"]) for row in found["locks"]] == [
            (".hoodie/lock", "FileSystemBasedLockProvider", os.getpid(), True),
            (".hoodie/.locks/p-7.lock", "plan", os.getpid(), True),
            (".hoodie/.heartbeat/20260101000000000", "heartbeat", None, True),
        ]
        assert "is alive" in text
        assert main([*unlock, "--yes"]) == FAILED
        assert re.search(
            rf"process {os.getpid()} of .*\(upsert\); it is at work.*`hudi-services unlock --force --target-base-path [^`]+`",
            said(capsys),
        )
        assert storage.info(".hoodie/lock") is not None
        assert main([*unlock, "--force"]) == DONE
        assert storage.list(".hoodie/.locks").files == ()
        assert storage.info(".hoodie/lock") is None


def test_a_lock_that_runs_out_is_shown_with_its_time(path, capsys):
    storage = LocalStorage(str(path))
    until = int(SystemClock().now().timestamp() * 1000) + 100_000
    storage.create(TABLE_LOCK, b'{"expired":false,"validUntil":%d,"owner":"a writer of Hudi"}' % until)
    text, found = look(capsys, path, "locks")
    (row,) = found["locks"]
    assert (row["kind"], row["holder"], row["alive"]) == ("StorageBasedLockProvider", "a writer of Hudi", None)
    assert 90 < row["expires_in"] <= 100
    assert "in 1 min" in text
    assert main(["unlock", f"--target-base-path={path}", "--yes"]) == DONE
    assert "runs out in 1 min" in capsys.readouterr().out
    storage.create(TABLE_LOCK, b'{"expired":true,"validUntil":%d,"owner":"a writer of Hudi"}' % until)
    assert look(capsys, path, "locks")[1]["locks"] == []


@pytest.mark.deep("the commands ask the same functions of the library")
@pytest.mark.process
def test_a_table_on_s3_is_looked_at_alike(s3, capsys):
    url = f"{s3.bucket()}/trips"
    fill(HoodieTable.create(url, {**OPTIONS, "hoodie.table.type": "MERGE_ON_READ"}))
    for page in ("table", "timeline", "commits", "partitions", "slices", "files", "logs", "locks"):
        _, found = look(capsys, url, page)
        assert found["table"] == "trips"
    _, found = look(capsys, url, "files")
    _, found = look(capsys, f"{url}/", "file", f"{url}/{found['files'][0]['path']}")
    assert found["rows"] == 1
    assert main(["diff", "2020-01-01", "--rows=1", f"--target-base-path={url}"]) == DONE
