"""The page of a run: its texts about each task."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hoodie.model.outcome import ServiceOutcome
from hudi_services.operations.pages.run import Amount, Going, Progress, TaskRun, Touched, Tried, run_page
from hudi_services.runtime.result import Cost, Gain, ServiceResult

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def page_of(left: dict[str, Any], state: str | None = "success") -> TaskRun:
    tried = Tried("clean", state, NOW - timedelta(minutes=2), NOW, 1, left)
    return run_page("hudi_clean__t", "manual__1", [tried], NOW).tasks[0]


def test_a_result_tells_what_it_cost_and_gained() -> None:
    result = ServiceResult(
        "compact",
        "compacted 2 file groups",
        "20261123115900000",
        rows_written=10,
        bytes_written=2048,
        seconds=1.5,
        blockers=({"held": "instant 7", "reason": "inflight", "fix": "wait"},),
        recovered=("rolled back 5",),
        services=(ServiceOutcome("clean", "disk is full", failed=True),),
        gain=Gain(log_bytes_merged=512),
        cost=Cost(cpu_seconds=2.25, peak_memory=1 << 20),
    )
    found = page_of({"return_value": json.loads(json.dumps(asdict(result)))})
    assert (found.outcome, found.message, found.instant) == ("done", "compacted 2 file groups", "20261123115900000")
    assert found.amounts == (
        Amount("rows written", 10, "count"),
        Amount("bytes written", 2048, "bytes"),
        Amount("seconds", 1.5, "seconds"),
        Amount("cpu seconds", 2.25, "seconds"),
        Amount("peak memory", 1 << 20, "bytes"),
        Amount("log bytes merged", 512, "bytes"),
    )
    assert found.lines == ("held back: instant 7: inflight; wait", "rolled back 5", "clean FAILED: disk is full")


def test_every_number_of_a_result_is_shown() -> None:
    values = asdict(ServiceResult("s", "m")).items()
    numbers = {name for name, value in values if isinstance(value, int | float) and not isinstance(value, bool)}
    left = {**dict.fromkeys(numbers, 1), "service": "s", "gain": asdict(Gain(1, 1, 1, 1)), "cost": asdict(Cost(1, 1))}
    shown = {each.name.replace(" ", "_") for each in page_of({"return_value": left}).amounts}
    assert shown == numbers | set(asdict(Gain())) | set(asdict(Cost()))


def test_a_failure_outweighs_what_an_earlier_try_left() -> None:
    found = page_of({"return_value": {"service": "clean", "message": "fine"}, "failure": {"message": "OSError: full"}})
    assert (found.outcome, found.message) == ("failed", "OSError: full")


def test_a_pause_says_whose_it_is_and_why() -> None:
    found = page_of({"paused": {"by": "ann", "reason": "a migration", "until": None}}, "skipped")
    assert (found.outcome, found.message) == ("paused", "Paused by ann: a migration")


def test_a_plan_lists_its_files_with_reasons_and_tells_what_is_left_out() -> None:
    plan = {
        "service": "clean",
        "reason": "3 commits",
        "bytes": 7,
        "files": [{"path": "p/<b>.parquet", "bytes": 7, "reason": "older than 2 commits"}, {"path": "p/b"}, "odd"],
        "files_left_out": 4,
        "whole_plan": "/logs/plan.json",
    }
    found = page_of({"plan": plan})
    assert found.files == (Touched("p/<b>.parquet", 7, "older than 2 commits"), Touched("p/b", None, ""))
    assert (found.message, found.more, found.whole) == ("3 commits", 4, "/logs/plan.json")


def test_a_question_is_told() -> None:
    assert page_of({"return_value": {"asks": True, "message": "412 files"}}).outcome == "asks"


@pytest.mark.parametrize(
    "value", [None, 3, "text", [1], {"other": 1}, {"service": None, "services": 3, "blockers": [1]}]
)
def test_what_other_code_left_breaks_nothing(value: object) -> None:
    assert page_of({"return_value": value, "plan": 5, "failure": "x"}).message == ""


def test_tasks_come_as_they_began() -> None:
    late, early = NOW, NOW - timedelta(minutes=1)
    tasks = [Tried("c", None, None, None, 0, {}), Tried("b", "success", late, late, 1, {})]
    tasks += [Tried("a", "success", early, late, 1, {})]
    found = run_page("d", "r", tasks, NOW).tasks
    assert [(each.task, each.state) for each in found] == [("a", "success"), ("b", "success"), ("c", "not begun")]


STAGE = {
    "step": "merge rows",
    "tasks": 4,
    "tasks_done": 1,
    "files": 12,
    "files_done": 3,
    "bytes": 1000,
    "bytes_done": 250,
}
AT = {"seconds": 7.5, "at": NOW.isoformat()}


def test_a_task_that_runs_tells_how_far_it_is() -> None:
    found = page_of({"progress": {**STAGE, **AT}}, "running").progress
    assert found == (
        Progress("merge rows", 3, 12, "count", "files", 7.5, NOW.isoformat()),
        Progress("merge rows", 250, 1000, "bytes", "bytes", 7.5, NOW.isoformat()),
    )
    assert page_of({"progress": {**STAGE, **AT}}, "success").progress == (), "its result says what it did"
    assert page_of({}, "running").progress == ()


def test_tasks_are_told_where_files_and_bytes_are_not_known() -> None:
    (found,) = page_of({"progress": {**STAGE, **AT, "files": 0, "bytes": 0}}, "running").progress
    assert (found.done, found.whole, found.noun) == (1, 4, "tasks")
    (begun,) = page_of({"progress": {"step": "look", **AT}}, "running").progress
    assert (begun.done, begun.whole) == (0, None)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), "7", None, [], -1, True])
def test_what_is_no_number_breaks_no_page(odd: Any) -> None:
    values = {**STAGE, **AT, "files": odd, "files_done": odd, "bytes": odd, "seconds": odd}
    page = page_of({"progress": values, "return_value": {"service": "s", "rows_read": odd, "seconds": odd}}, "running")
    json.loads(json.dumps(asdict(page), allow_nan=False))


PLANNED = {
    "service": "clean",
    "reason": "why",
    "bytes": 2048,
    "files": [{"path": "p/a", "bytes": 2048, "reason": "old"}],
    "verb": "remove",
    "noun": "file",
    "digest": "0123456789ab",
}


def test_a_plan_can_be_asked_for_by_its_digest() -> None:
    found = page_of({"plan": PLANNED})
    assert (found.digest, found.would) == ("0123456789ab", "remove 1 file, 2.0 KiB")
    assert page_of({"plan": {**PLANNED, "files_left_out": 7}}).would == "remove 8 files, 2.0 KiB"


def test_a_plan_counts_its_items_by_their_noun() -> None:
    def sizes(**more: Any) -> list[tuple[str, float]]:
        return [(amount.name, amount.value) for amount in page_of({"plan": {**PLANNED, **more}}).amounts]

    assert sizes() == [("files", 1), ("partitions", 1), ("bytes", 2048)]
    assert sizes(files_left_out=7) == [("files", 8), ("bytes", 2048)]
    assert sizes(service="archive", noun="instant", bytes=0) == [("instants", 1)]
    assert sizes(service="cluster", noun="group", files=[{"path": "a/b"}], bytes_written=5) == [
        ("groups", 1),
        ("bytes", 2048),
        ("bytes written", 5),
    ]
    assert sizes(service="ingest", files=[{"path": "2026/01/a.csv"}]) == [("files", 1), ("bytes", 2048)]


@pytest.mark.parametrize(
    "odd",
    [
        {"service": "ingest"},
        {"service": "<b>"},
        {"digest": "x"},
        {"digest": None},
        {"digest": ["0123456789ab"]},
        {"files": []},
    ],
)
def test_what_cannot_be_asked_for_has_no_button(odd: dict[str, Any]) -> None:
    assert page_of({"plan": {**PLANNED, **odd}}).digest is None


def test_a_run_that_goes_on_is_worth_another_look() -> None:
    page = run_page("d", "r", [], NOW, Going(True, {"retained": 2}))
    assert (page.goes_on, page.conf) == (True, {"retained": 2})
    assert not run_page("d", "r", [], NOW).goes_on
