"""Blockers of cleans and compactions are reported, with age, owner and a remedy that works; a healthy table has no report."""

from __future__ import annotations

import json
import shlex
from datetime import timedelta

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION, LOG_COMPACTION
from hoodie.engine import LocalEngine
from hoodie.formats import avro_file
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.model.commit import CommitMetadata
from hoodie.services.blockers import Blocker, with_blockers
from hoodie.timeline import Action
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.transaction import instants
from hoodie.transaction.heartbeat import FOLDER
from hoodie.view import TableView
from hudi_services.cli.program import main
from hudi_services.services.compaction.task import CompactTask, outlook
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.history import make_version_8
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create

OPTIONS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
ONE_COMMIT = {"hoodie.clean.commits.retained": 1}
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1}
ANY = {"hoodie.compact.inline.max.delta.commits": 1}
DAY = 24 * 3600.0  # seconds


@pytest.fixture(params=sample(["6", "8", "9"], 0, 2))
def version(request):
    return request.param


def made(path, version, **options):
    """A table of that version."""
    table = create(path, FakeClock(), **{"hoodie.write.table.version": "6" if version == "6" else "9", **options})
    if version == "8":
        make_version_8(table)
    return table


def upsert(table, *values):
    """One commit for each value; returns their times."""
    return [table.write(batch([("a", "p", value, value)]), "upsert", OPTIONS).instant.time for value in values]


@pytest.fixture
def cow(tmp_path, version):
    table = made(tmp_path / "t", version)
    upsert(table, 1, 2, 3)
    return table


@pytest.fixture
def mor(tmp_path, version):
    table = made(tmp_path / "mor", version, **{"hoodie.table.type": "MERGE_ON_READ"})
    upsert(table, 1, 2)
    return table


def only(decision):
    (blocker,) = decision.blockers
    return blocker


def carry_out(table, fix):
    """The command that a remedy names."""
    command = next(part for part in fix.split("`") if part.startswith("hudi-services "))
    yes = ["--yes"] if "savepoint" in command or "rollback" in command else []
    assert main([*shlex.split(command)[1:], f"--target-base-path={table.base_path}", *yes]) == 0


def test_of_a_healthy_table_nothing_is_told_and_nothing_is_read_for_it(cow, mor):
    for table, service, options in ((cow, CLEAN, ONE_COMMIT), (mor, COMPACTION, ANY)):
        storage = CountingStorage(table.base_path)
        decision = service.decide(type(table).open(storage, clock=table.clock).state(), options, table.clock)
        assert decision.blockers == ()
        assert "blockers" not in decision.as_dict("it")
        assert decision.summary == decision.reason
        assert not [path for path in (*storage.opened, *storage.listed) if path.startswith((FOLDER, ".hoodie/lock"))]


def test_a_savepoint_keeps_files(cow):
    saved = cow.savepoint(user="anna", comments="before \n the move").instant
    upsert(cow, 4, 5)
    cow.clock.time += timedelta(days=3)
    found = only(cow.explain(CLEAN, ONE_COMMIT))
    assert (found.instant, found.action, found.held.partition(" of ")[0]) == (saved, "savepoint", "1 file")
    assert found.owner == "made by anna: before the move"
    assert found.age == pytest.approx(3 * DAY, abs=60)
    told = CLEAN.report(cow.run(CLEAN, ONE_COMMIT))[0]
    assert f"held back by savepoint {saved} (3 d 0 h old; made by anna: before the move), which keeps them" in told
    carry_out(cow, found.fix)
    assert cow.explain(CLEAN, ONE_COMMIT).blockers == ()


def test_a_compaction_that_waits_keeps_history_and_logs(mor):
    upsert(mor, 3)
    plan = mor.schedule(COMPACTION, ANY)
    assert mor.explain(COMPACTION, ANY).blockers == (), "the plan takes all that there is"
    upsert(mor, 4)
    mor.clock.time += timedelta(hours=5)
    found = only(mor.explain(COMPACTION, ANY))
    assert (found.instant, found.action, found.state) == (plan, "compaction", "REQUESTED")
    assert found.held.startswith("1 log of ")
    assert (found.owner, round(found.age / 3600)) == (None, 5)
    upsert(mor, 5)
    history = mor.explain(CLEAN, ONE_COMMIT).blockers
    assert [(each.instant, each.action) for each in history] == [(plan, "compaction")]
    assert history[0].held.startswith("what was superseded before ")
    carry_out(mor, found.fix)
    assert mor.explain(COMPACTION, ANY).blockers == ()
    assert mor.explain(CLEAN, ONE_COMMIT).blockers == ()


@pytest.mark.parametrize("of_logs", [True, False])
def test_a_plan_keeps_later_logs_from_a_log_compaction(tmp_path, of_logs):
    table = made(tmp_path / "t", "9", **{"hoodie.table.type": "MERGE_ON_READ"})
    upsert(table, 1, 2, 3)
    two = {"hoodie.log.compaction.blocks.threshold": 2}
    plan = table.schedule(LOG_COMPACTION, two) if of_logs else table.schedule(COMPACTION, ANY)
    assert plan is not None
    assert table.explain(LOG_COMPACTION, two).blockers == (), "the plan takes all that there is"
    upsert(table, 4, 5)
    table.clock.time += timedelta(hours=5)
    decision = table.explain(LOG_COMPACTION, two)
    found = only(decision)
    assert decision.plan is None
    assert (found.instant, found.action) == (plan, "logcompaction" if of_logs else "compaction")
    assert found.held.startswith("2 logs of ")
    assert (found.owner, round(found.age / 3600)) == (None, 5)
    carry_out(table, found.fix)
    assert table.explain(LOG_COMPACTION, two).blockers == ()


def test_a_run_tells_what_holds_a_log_compaction_back(tmp_path):
    table = made(tmp_path / "t", "9", **{"hoodie.table.type": "MERGE_ON_READ"})
    upsert(table, 1, 2, 3)
    two = {"hoodie.log.compaction.blocks.threshold": 2, "hoodie.log.compaction.enable": "true"}
    plan = table.schedule(LOG_COMPACTION, two)
    upsert(table, 4)  # four are too few for a compaction
    result = CompactTask(table.base_path, two, "schedule", None, None, False).run(LocalEngine(1))
    assert [blocker["instant"] for blocker in result.blockers] == [plan], result.message
    assert f"held back by logcompaction {plan}" in result.message
    assert [each["instant"] for each in outlook(table.base_path, two).facts["blockers"]] == [plan]


def test_a_plan_that_is_carried_out_is_waited_for(mor):
    plan = mor.schedule(COMPACTION, ANY)
    upsert(mor, 3)
    lock = f".hoodie/.locks/compaction-{plan}.lock"
    mor.storage.create(lock, b"another\nprogram")
    found = only(mor.explain(COMPACTION, ANY))
    assert (found.owner, found.fix) == ("another program", "wait until it is carried out")


def test_a_clustering_is_to_be_carried_out(cow, version):
    (group,) = TableView(cow.state()).slices
    slices = [{"fileId": group.file_id, "partitionPath": group.partition}]
    body = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": [{"slices": slices}]}})
    action = Action.REPLACE_COMMIT if version == "6" else Action.CLUSTERING
    time = "20260101000000002"  # before the second commit
    waiting = instants.request(cow.state(), time, action, body)
    found = cow.explain(CLEAN, ONE_VERSION).blockers
    assert [(each.instant, each.action) for each in found][:1] == [(waiting.time, str(action))]
    assert found[0].held.startswith("2 files of ")
    assert f"`hudi-services cluster --mode execute --instant {time}`" in found[0].fix
    assert found[0].owner is None


def test_a_clean_that_was_cut_short(cow):
    plan = cow.explain(CLEAN, ONE_COMMIT).plan
    requested = instants.request(cow.state(), "20260102000000000", Action.CLEAN, encode_clean_plan(plan, cow.base_path))
    found = only(cow.explain(CLEAN, ONE_COMMIT))
    assert (found.instant, found.action, found.held) == (requested.time, "clean", "the next clean")
    carry_out(cow, found.fix)
    assert cow.explain(CLEAN, ONE_COMMIT).blockers == ()


def begin_write(table, time, *, log_of=None):
    """A write under way, as another writer would have begun it."""
    merge_on_read = table.properties.is_merge_on_read
    state = table.state()
    writer = instants.request(state, time, Action.DELTA_COMMIT if merge_on_read else Action.COMMIT)
    instants.start(state, writer, b"{}")
    if log_of is not None:
        name = f".{log_of.file_id}_{log_of.base_instant}.log.9_0-1-1"
        DirectMarkers(table.storage, time).create(f"{log_of.partition}/{name}", MarkerType.APPEND)
    return writer


@pytest.mark.parametrize("options", [ONE_COMMIT, ONE_VERSION], ids=["commits", "versions"])
def test_a_write_under_way_keeps_what_it_may_read(cow, options):
    writer = begin_write(cow, "20260101000000003")
    cow.storage.touch(f"{FOLDER}/{writer.time}")
    age = cow.clock.now().timestamp() - cow.storage.info(f"{FOLDER}/{writer.time}").modified_ms / 1000
    cow.clock.time -= timedelta(seconds=age - 30)  # the heartbeat is 30 s old
    found = only(cow.explain(CLEAN, options))
    assert (found.instant, found.action, found.state) == (writer.time, "commit", "INFLIGHT")
    assert found.owner == "its writer gave a sign of life 30.0 s ago"
    assert "for 120 s counts as dead" in found.fix


def test_a_dead_write_is_taken_back(cow):
    writer = begin_write(cow, "20260101000000003")
    found = only(cow.explain(CLEAN, ONE_COMMIT))
    assert (found.instant, found.owner) == (writer.time, None)
    carry_out(cow, found.fix)
    assert cow.explain(CLEAN, ONE_COMMIT).blockers == ()


def test_a_writer_that_holds_the_lock_is_named(cow):
    begin_write(cow, "20260101000000003")
    cow.storage.create(".hoodie/lock", b"{}")
    assert only(cow.explain(CLEAN, ONE_COMMIT)).owner == "{} holds the table's lock"


@pytest.mark.parametrize("version", ["6"])
def test_in_version_6_a_writer_at_work_keeps_its_groups_from_compaction(mor):
    (group,) = TableView(mor.state()).slices
    writer = begin_write(mor, "20270101000000000", log_of=group)
    assert mor.explain(COMPACTION, ANY).blockers == (), "a dead writer holds nothing"
    mor.storage.touch(f"{FOLDER}/{writer.time}")
    age = mor.clock.now().timestamp() - mor.storage.info(f"{FOLDER}/{writer.time}").modified_ms / 1000
    mor.clock.time -= timedelta(seconds=age - 30)
    decision = mor.explain(COMPACTION, ANY)
    assert decision.plan is None
    found = only(decision)
    assert (found.instant, found.action) == (writer.time, "deltacommit")
    assert found.held.startswith("1 log of ")


SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
    "hoodie.compact.inline.max.delta.commits": 1,
}


def test_an_archival_that_nothing_holds_tells_nothing(cow, mor):
    upsert(cow, 4, 5)
    upsert(mor, 4, 5)
    for table in (cow, mor):
        decision = table.explain(ARCHIVE, SHORT)
        assert (decision.blockers, len(decision.plan.instants) > 0) == ((), True)


def test_a_savepoint_and_a_dead_write_hold_archival_back(cow):
    saved = cow.savepoint(user="anna").instant
    dead = begin_write(cow, "20260101000000003")
    cow.clock.time += timedelta(days=1)
    state = cow.state()
    for number in range(4):  # `write` would take the dead one back
        later = instants.start(state, instants.request(state, f"2026010100000{number}900", Action.COMMIT))
        body = state.layout.encode_commit(CommitMetadata("UPSERT", extra={"schema": "{}"}), replace=False)
        instants.complete(state, later, body, cow.clock)
    found = {each.instant: each for each in cow.explain(ARCHIVE, SHORT).blockers}
    assert set(found) == {saved, dead.time}
    assert found[saved].owner == "made by anna"
    assert found[saved].held == f"what began at {saved} or later"
    assert "hudi-services savepoint delete" in found[saved].fix
    assert "hudi-services rollback --instant" in found[dead.time].fix


def test_a_rollback_that_was_begun_holds_archival_back(cow):
    requested = instants.request(cow.state(), "20260102000000000", Action.ROLLBACK, b"")
    found = only(cow.explain(ARCHIVE, SHORT))
    assert (found.instant, found.action, found.owner) == (requested.time, "rollback", None)
    assert found.fix == "the next change of the table finishes it"


def test_a_compaction_that_is_due_later_holds_archival_back(mor):
    upsert(mor, 3, 4, 5)
    found = only(mor.explain(ARCHIVE, {**SHORT, "hoodie.compact.inline.max.delta.commits": 5}))
    assert (found.action, found.state, found.fix) == (
        "deltacommit",
        "COMPLETED",
        "`hudi-services compact` goes on from there",
    )
    assert "old; complete), as the next compaction counts" in str(found)


def test_they_are_told_in_results_and_by_show(cow, capsys):
    saved = cow.savepoint(user="anna").instant
    upsert(cow, 4, 5)
    path = f"--target-base-path={cow.base_path}"
    option = [f"--hoodie-conf={name}={value}" for name, value in ONE_COMMIT.items()]
    assert main(["clean", path, *option, "--explain", "--json"]) == 0
    (explained,) = json.loads(capsys.readouterr().out)["blockers"]
    assert main(["clean", path, *option, "--explain"]) == 0
    assert f"held back by savepoint {saved}" in capsys.readouterr().out
    assert main(["clean", path, *option, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["blockers"]
    assert {**told, "age": 0} == {**explained, "age": 0}
    assert main(["show", "table", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["blockers"] == [], "with ten commits retained nothing is held"


def test_show_tells_them(cow, capsys):
    plan = cow.explain(CLEAN, ONE_COMMIT).plan
    time = instants.request(cow.state(), "20260102000000000", Action.CLEAN, encode_clean_plan(plan, cow.base_path)).time
    path = f"--target-base-path={cow.base_path}"
    assert main(["show", "table", path, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["blockers"]
    assert (row["service"], row["instant"], row["action"]) == ("clean", time, "clean")
    assert main(["show", "table", path]) == 0
    assert f"clean: the next clean: held back by clean {time} REQUESTED" in " ".join(capsys.readouterr().out.split())


def test_one_line_names_three():
    blockers = [
        Blocker("a file", str(n), "commit", "INFLIGHT", 1.0, None, "which may read it", "wait") for n in range(5)
    ]
    line = with_blockers("why", blockers)
    assert line.startswith(
        "why; a file: held back by commit 0 INFLIGHT (1.0 s old; no process is known to be at work on it)"
    )
    assert line.endswith("; and 2 more that --explain shows")
    assert line.count("held back") == 3


def test_words_of_others_stay_in_one_short_line(cow):
    cow.savepoint(user="x\n" * 500)
    upsert(cow, 4, 5)
    assert len(only(cow.explain(CLEAN, ONE_COMMIT)).owner) == 200
