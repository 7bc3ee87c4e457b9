"""Services of tables of rules: those that are due, the most urgent first, within a time."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.runtime.pause import pause, resume
from hudi_services.sources.databases.plan_store import StoredPlan
from hudi_services.sources.databases.server_services import ServerServices, due_services

OPTIONS = {"hoodie.table.recordkey.fields": "id", "hoodie.table.name": "t", "hoodie.metadata.enable": "false"}


def rule(folder, **said):
    return DatabaseRule(server="shop", database="b1", base_path=f"{folder}/{{table}}", **said)


@pytest.fixture
def lake(tmp_path):
    """A function that makes a table with some commits."""

    def table(name, commits, kind="MERGE_ON_READ"):
        made = HoodieTable.create(f"{tmp_path}/{name}", {**OPTIONS, "hoodie.table.type": kind})
        for number in range(commits):
            made.write(pa.table({"id": [1, 2], "v": [number, number]}), "upsert")
        return made

    return table


def test_services_are_due_by_the_commits_since_their_last_run(lake, tmp_path):
    def due(name, **said):
        table = HoodieTable.open(f"{tmp_path}/{name}")
        merge_on_read = table.properties.is_merge_on_read
        found = due_services(name, rule(tmp_path, **said), table.timeline, is_merge_on_read=merge_on_read)
        return {one.service: (one.urgency, one.reason) for one in found}

    lake("few", 4)
    lake("many", 6, "COPY_ON_WRITE")
    assert due("few") == {}
    assert due("many") == {"clean": (1.2, "6 commits since the last clean, 5 start one")}
    assert due("few", services=("cluster",)) == {"cluster": (1.0, "4 commits since the last clustering, 4 start one")}
    options = {
        "hoodie.compact.inline.max.delta.commits": "2",
        "hoodie.keep.max.commits": "3",
        "hoodie.keep.min.commits": "2",
    }
    assert list(due("few", hoodie=options)) == ["compact", "archive"]
    assert list(due("few", hoodie=options, services=("archive",))) == ["archive"]
    assert due("few", hoodie={"hoodie.clean.trigger.max.commits": "2"})["clean"][0] == 2.0


def test_the_most_urgent_table_is_served_first_and_those_that_wait_say_why(lake, tmp_path):
    lake("a", 6)
    lake("b", 11)
    (tmp_path / "broken").mkdir()
    options = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
    paths = {f"b1.{name}": f"{tmp_path}/{name}" for name in ("a", "b", "not_loaded")}
    plan = StoredPlan(1, (rule(tmp_path, hoodie=options),), paths)
    times = iter([0, 1, 2, 3, 99, 99, 99])
    runs = list(ServerServices(plan, 10, lambda: next(times)).run())
    assert [(one.base_path.rpartition("/")[2], one.service, one.state) for one in runs] == [
        ("b", "compact", "done"),
        ("b", "clean", "done"),
        ("b", "archive", "done"),
        *(("a", service, "left") for service in ("compact", "clean", "archive")),
    ]
    assert "executed" in runs[0].message
    assert runs[3].message == "not started: the 10 s for services were over. The next run goes on"
    assert runs[3].due == "6 commits since the last compaction, 5 start one"
    table = HoodieTable.open(f"{tmp_path}/b")
    assert len(table.timeline.commits) <= 3
    assert table.read().sort_by("id")["v"].to_pylist() == [10, 10]
    waiting = HoodieTable.open(f"{tmp_path}/a")
    before = waiting.timeline
    pause(waiting.storage, SystemClock(), "ann", "a bad load is taken back")
    runs = list(ServerServices(plan, 10).run())
    assert {(one.state, "by ann since" in one.message) for one in runs} == {("left", True)}
    assert waiting.timeline == before
    resume(waiting.storage)
    runs = list(ServerServices(plan, 10).run())
    assert {(one.base_path.rpartition("/")[2], one.state) for one in runs} == {("a", "done")}
    assert list(ServerServices(plan, 10).run()) == []


def test_a_service_that_fails_leaves_the_others_alone(lake, tmp_path):
    lake("a", 6)
    lake("b", 6)
    bad = rule(tmp_path, tables="a", hoodie={"hoodie.clean.commits.retained": "1", "hoodie.clean.policy": "NO_SUCH"})
    plan = StoredPlan(1, (bad, rule(tmp_path, tables="b")), {f"b1.{name}": f"{tmp_path}/{name}" for name in "ab"})
    runs = {(one.base_path.rpartition("/")[2], one.service): one for one in ServerServices(plan, 60).run()}
    assert runs["a", "clean"].state == "failed"
    assert "NO_SUCH" in runs["a", "clean"].message
    assert {one.state for (name, _), one in runs.items() if name == "b"} == {"done"}
    worse = StoredPlan(1, (rule(tmp_path, hoodie={"hoodie.keep.max.commits": "x"}),), {"b1.a": f"{tmp_path}/a"})
    [one] = ServerServices(worse, 60).run()
    assert (one.service, one.state, "hoodie.keep.max.commits" in one.message) == ("any", "failed", True)
