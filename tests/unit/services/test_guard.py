"""Limits of deletes without approval: caps of files, bytes and of the table's share, before any plan is written."""

import dataclasses
import json
import os
import pickle

import pytest

from hoodie import CLEAN
from hoodie.config.key import resolve
from hoodie.config.keys.delete import DELETE_KEYS
from hoodie.errors import DeleteCapError
from hoodie.services.clean.service import Clean
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, Deletion, weighed
from hoodie.services.measures import Measure
from hoodie.services.restore.service import Restore
from hoodie.services.rollback.service import Rollback
from hoodie.services.stages import Item, Items
from hoodie.storage.base import walk_files
from hoodie.transaction.approvals import FOLDER as ASKED
from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

CAPS = Caps(files=10, bytes=1000, share=0.5, share_from=4)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def table(tmp_path, clock):
    return create(tmp_path / "t", clock)


def upsert(table, *entries):
    return table.write(batch(entries), "upsert", SMALL_BLOOM).instant.time


def files_of(table):
    return sorted((file.path, file.size) for file in walk_files(table.storage, "") if not file.path.startswith(ASKED))


@pytest.mark.parametrize(
    ("files", "size", "seen", "over"),
    [(10, 100, 1000, []), (11, 100, 1000, ["11 files"]), (1, 1001, 9000, ["1,001 bytes"]), (4, 600, 1000, ["60.0% of"]),
     (3, 600, 1000, []), (0, 0, 0, []), (11, 1200, 1300, ["11 files", "1,200 bytes", "92.3% of"])],
)  # fmt: skip
def test_caps(files, size, seen, over):
    found = weighed(files, size, seen, CAPS, lambda: seen).over_texts
    assert [line.startswith(begun) for line, begun in zip(found, over, strict=True)] == [True] * len(over)


def test_the_share_is_that_of_the_whole_table_which_is_only_looked_at_when_it_may_be_past_the_cap():
    assert weighed(4, 600, 1000, CAPS, lambda: 5000).over == ()
    assert weighed(4, 600, 1000, CAPS, lambda: 5000).of_bytes == 5000
    assert weighed(4, 400, 1000, CAPS, lambda: pytest.fail("asked")).of_bytes == 1000


def test_the_share_of_a_small_plan_only_counts_when_it_was_asked_for():
    assert Caps.of(resolve({}, DELETE_KEYS)).share_from == 1000
    assert Caps.of(resolve({"hoodie.delete.max.share": 0.9}, DELETE_KEYS)).share_from == 0


@pytest.mark.parametrize("option", [{"files": 2}, {"bytes": 100}, {"share": 0.1}])
def test_a_clean_past_a_cap_stops_before_its_plan_is_written(table, option):
    for step in range(5):
        upsert(table, ("a", "p", step, step))
    ((name, value),) = option.items()
    options = {"hoodie.clean.commits.retained": 1, f"hoodie.delete.max.{name}": value}
    before = files_of(table)
    with pytest.raises(DeleteCapError, match=rf"hoodie\.delete\.max\.{name} is ") as stopped:
        table.run(CLEAN, options)
    assert files_of(table) == before
    decision = table.explain(CLEAN, options)
    assert f"unless it is given --yes {decision.digest}: " in decision.as_text("clean")
    assert len(decision.as_dict("clean")["over_caps"]) == 1
    assert decision.as_dict("clean")["digest"] == decision.digest == stopped.value.digest
    assert f"--yes {decision.digest}" in str(stopped.value)
    assert pickle.loads(pickle.dumps(stopped.value)).digest == decision.digest
    assert table.run(Clean(agreed=decision.digest), options).files_deleted == 3


@pytest.mark.parametrize("change", ["another commit", "another option"])
def test_who_agreed_to_a_plan_agreed_to_no_other(table, change):
    for step in range(4):
        upsert(table, ("a", "p", step, step))
    options: dict[str, object] = {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.files": 1}
    digest = table.explain(CLEAN, options).digest
    if change == "another commit":
        upsert(table, ("a", "p", 9, 9))
    else:
        options["hoodie.delete.grace.hours"] = 1
    before = files_of(table)
    with pytest.raises(DeleteCapError, match=f"another one than {digest}") as stopped:
        table.run(Clean(agreed=digest), options)
    assert files_of(table) == before
    assert table.run(Clean(agreed=stopped.value.digest), options).files_deleted >= 2


RETAIN_ONE = {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.files": 2}


@pytest.fixture
def asked(table):
    """A table whose clean asks whether it may delete 7 files, where 2 need no approval; and the digest of that plan."""
    for step in range(4):
        upsert(table, ("a", "p", step, step), ("b", "q", step, step))
    for step in range(4, 6):
        upsert(table, ("a", "p", step, step))
    with pytest.raises(DeleteCapError) as stopped:
        table.run(CLEAN, RETAIN_ONE)
    return table, stopped.value.digest


def data_files(table):
    return {path for path, _ in files_of(table) if path.endswith(".parquet")}


@pytest.mark.parametrize("commits", [0, 1, 2])
def test_a_table_may_be_written_while_somebody_makes_up_his_mind(asked, commits):
    table, digest = asked
    for step in range(commits):
        upsert(table, ("a", "p", 9 + step, 9))
    done = table.run(Clean(agreed=digest), RETAIN_ONE)
    assert done.files_deleted == 7 + commits
    assert len(data_files(table)) == 3


def test_what_nobody_has_agreed_to_is_no_more_than_a_run_may_delete_unasked(asked):
    table, digest = asked
    for step in range(3):
        upsert(table, ("a", "p", 9 + step, 9))
    before = files_of(table)
    with pytest.raises(DeleteCapError, match=f"another one than {digest}") as stopped:
        table.run(Clean(agreed=digest), RETAIN_ONE)
    assert files_of(table) == before
    assert table.run(Clean(agreed=stopped.value.digest), RETAIN_ONE).files_deleted == 10


def test_fewer_files_than_were_agreed_to_may_go(asked):
    table, digest = asked
    table.savepoint(table.timeline.commits[2].time)
    assert 2 < table.run(Clean(agreed=digest), RETAIN_ONE).files_deleted < 7


@pytest.mark.parametrize("change", ["other files", "more files", "torn", "no list", "set aside"])
def test_agreement_is_to_the_files_that_were_asked_about(asked, change):
    table, digest = asked
    upsert(table, ("a", "p", 9, 9))
    path = f"{ASKED}/{digest}"
    kept, more = table.storage.read(path), {"hoodie.delete.grace.hours": 1} if change == "set aside" else {}
    lists = {"other files": bytes(len(kept)), "more files": kept + bytes(32), "torn": kept[:-5], "no list": None}
    if change in lists:
        table.storage.delete(path)
        if lists[change] is not None:
            table.storage.create(path, lists[change])
    before = files_of(table)
    with pytest.raises(DeleteCapError, match=f"another one than {digest}"):
        table.run(Clean(agreed=digest), {**RETAIN_ONE, **more})
    assert files_of(table) == before


def test_lists_of_what_was_asked_go_after_a_month(asked, clock):
    table, digest = asked
    os.utime(f"{table.base_path}/{ASKED}/{digest}", (0, 0))
    upsert(table, ("a", "p", 9, 9))
    with pytest.raises(DeleteCapError) as stopped:
        table.run(CLEAN, RETAIN_ONE)
    assert [file.name for file in table.storage.list(ASKED).files] == [stopped.value.digest]


def test_a_clean_that_cannot_note_what_it_asks_still_asks(table, monkeypatch, caplog):
    for step in range(5):
        upsert(table, ("a", "p", step, step))
    create = type(table.storage).create

    def full(storage, path, data):
        if path.startswith(ASKED):
            raise OSError("No space left on device")
        create(storage, path, data)

    monkeypatch.setattr(type(table.storage), "create", full)
    with pytest.raises(DeleteCapError):
        table.run(CLEAN, RETAIN_ONE)
    assert "were not noted" in caplog.text


def test_a_digest_is_that_of_what_is_touched_in_any_order():
    def digest(*items, verb="remove"):
        return Decision(1, "", (Items(verb, [Item(*item) for item in items], 0),)).digest

    one, other = ("p/a", 1), ("p/b", 2)
    assert digest(one, other) == digest(other, one)
    different = [digest(), digest(one), digest(other), digest(one, one), digest(("p/a", 2)), digest(one, verb="delete")]
    assert len(set(different)) == len(different)
    assert Decision(None, "").digest


def test_the_command_wants_the_digest_of_the_plan(table, capsys):
    for step in range(4):
        upsert(table, ("a", "p", step, step))
    caps = ["--hoodie-conf", "hoodie.clean.commits.retained=1", "--hoodie-conf", "hoodie.delete.max.files=1"]
    call = ["clean", f"--target-base-path={table.base_path}", *caps]
    before = files_of(table)
    assert main([*call, "--yes"]) == 2
    assert main([*call, "--yes", "--json"]) == 2
    assert main([*call, "--yes", "0123456789ab"]) == 1
    assert files_of(table) == before
    capsys.readouterr()
    assert main([*call, "--json"]) == 1
    digest = json.loads(capsys.readouterr().out)["digest"]
    assert main([*call, "--yes", digest]) == 0
    gone = dict(before).keys() - dict(files_of(table)).keys()
    assert sum(path.endswith(".parquet") for path in gone) == 2


@pytest.mark.parametrize("command", ["restore", "rollback"])
def test_taking_back_past_a_cap_wants_the_digest_of_the_plan(table, capsys, command):
    saved = upsert(table, ("a", "p", 0, 0))
    table.savepoint()
    last = upsert(table, ("b", "q", 1, 1))
    named = f"--savepoint={saved}" if command == "restore" else f"--instant={last}"
    call = [command, f"--target-base-path={table.base_path}", named, "--hoodie-conf", "hoodie.delete.max.bytes=1"]
    before = files_of(table)
    assert main([*call, "--yes", "--json"]) == 1
    digest = json.loads(capsys.readouterr().out)["digest"]
    assert main([*call, "--yes", "0123456789ab"]) == 1
    assert files_of(table) == before
    assert main([*call, "--yes", digest]) == 0


def test_the_share_of_a_clean_that_looks_at_one_partition_is_that_of_the_table(table):
    upsert(table, *((f"b{n}", f"q{n}", 0, 0) for n in range(9)))
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted == 1
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    decision = table.explain(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.share": 0.3})
    assert decision.facts["files_seen"] < 9
    assert decision.deletion.over == ()
    assert decision.deletion.bytes / decision.facts["bytes_seen"] > 0.3


def test_a_restore_past_a_cap_wants_to_be_agreed_to(table):
    saved = upsert(table, ("a", "p", 0, 0))
    table.savepoint()
    upsert(table, ("b", "q", 1, 1))
    before, options = files_of(table), {"hoodie.delete.max.bytes": 1}
    with pytest.raises(DeleteCapError, match="The restore of table"):
        table.run(Restore(saved), options)
    assert files_of(table) == before
    decision = table.explain(Restore(saved), options)
    assert table.run(Restore(saved).agreed(decision), options).files_deleted == 1


def test_a_rollback_of_a_commit_past_a_cap_wants_to_be_agreed_to(table):
    upsert(table, ("a", "p", 0, 0))
    last = upsert(table, ("b", "q", 1, 1))
    before, options = files_of(table), {"hoodie.delete.max.bytes": 1}
    with pytest.raises(DeleteCapError, match="The rollback of table"):
        table.run(Rollback(last), options)
    assert files_of(table) == before
    decision = table.explain(Rollback(last), options)
    assert decision.deletion.over
    assert table.run(Rollback(last).agreed(decision), options).files_deleted == 1


def test_an_interrupted_clean_that_was_agreed_to_is_finished_whatever_the_caps_are(table, monkeypatch):
    for step in range(3):
        upsert(table, ("a", "p", step, step))
    monkeypatch.setattr(type(table.storage), "delete", lambda self, path: (_ for _ in ()).throw(OSError("gone")))
    with pytest.raises(Exception, match="could not delete"):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    monkeypatch.undo()
    options = {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.bytes": 1}
    assert table.run(CLEAN, options).files_deleted == 1


def test_decisions_that_delete_nothing_are_not_weighed(table):
    assert table.explain(CLEAN).deletion is None
    assert "over_caps" not in table.explain(CLEAN).as_dict("clean")
    assert dataclasses.replace(table.explain(CLEAN)).allowed("clean", "t", agreed=None) is None


def test_the_error_has_the_sizes_for_the_question() -> None:
    deletion = Deletion(12, 100, 400, (Measure(12, 1, "file", "hoodie.delete.max.files"),))
    with pytest.raises(DeleteCapError) as raised:
        deletion.check("clean", "t", "0123456789ab", None, partitions=2)
    assert raised.value.deletion == {"files": 12, "bytes": 100, "of_bytes": 400, "partitions": 2}
