"""The page of a run of a DAG: each task's result, its plan, or why it failed or was skipped, from what the tasks left
in Airflow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from hoodie.display import counted, size_of
from hudi_services.services.entries import ENTRIES

RESULT, FAILURE, PLAN, PAUSED, PROGRESS, OUTLOOK = "return_value", "failure", "plan", "paused", "progress", "outlook"
LEFT = (RESULT, FAILURE, PLAN, PAUSED, PROGRESS, OUTLOOK)
"""Keys of the XComs that are read."""

_EXACT = frozenset(entry.name for entry in ENTRIES if any(flag.name == "only" for flag in entry.command.flags))
_DIGEST = re.compile(r"[0-9a-f]{12}")
_ANSWERS = {"Approve": "Approved", "Reject": "Rejected"}
_RUNNING = "running"  # a state of Airflow's tasks
Unit = Literal["count", "bytes", "seconds"]
_IN_PARTITIONS = frozenset({"file", "file group"})
"""Nouns of items whose paths begin with their partition; those of others are partitions, instants or files of a source."""
_AMOUNTS: Mapping[str, Unit] = {
    **dict.fromkeys(("rows_read", "rows_written", "rows_inserted", "rows_updated", "rows_deleted"), "count"),
    **dict.fromkeys(("rows_filtered", "rows_duplicate", "rows_without_effect", "rows_repeated"), "count"),
    "rows_quarantined": "count",
    **dict.fromkeys(("files_read", "files_skipped", "files_written", "files_deleted"), "count"),
    **dict.fromkeys(("bytes_read", "bytes_written", "bytes_deleted"), "bytes"),
    "seconds": "seconds",
    "lag_seconds": "seconds",
}
_COSTS: Mapping[str, Unit] = {"cpu_seconds": "seconds", "peak_memory": "bytes"}
_GAINS: Mapping[str, Unit] = {
    "bytes_freed": "bytes",
    "log_bytes_merged": "bytes",
    "files_before": "count",
    "files_after": "count",
}


@dataclass(frozen=True)
class Answer:
    """The answer of a person to a task that asked: the user, such as `Approve`, and when."""

    by: str
    chosen: str
    at: datetime


@dataclass(frozen=True)
class Tried:
    """A task of the run as Airflow knows it; `left` are its XComs by key, `answer` is that of a person."""

    task: str
    state: str | None
    began: datetime | None
    ended: datetime | None
    tries: int
    left: Mapping[str, Any]
    answer: Answer | None = None


@dataclass(frozen=True)
class Amount:
    """A number of the result. Those that are nothing are left out."""

    name: str
    value: float
    unit: Unit


@dataclass(frozen=True)
class Touched:
    """A file or file group of a plan: why it is in it; `bytes` is None where the plan has no size."""

    path: str
    bytes: int | None
    reason: str


@dataclass(frozen=True)
class Progress:
    """The progress of a task that runs: what it does for how many `seconds`, and how much of it is done at that time
    (ISO). `whole` is None where the amount is not known."""

    step: str
    done: float
    whole: float | None
    unit: Unit
    noun: str
    seconds: float
    at: str


@dataclass(frozen=True)
class TaskRun:
    """A task: `outcome` says which of them it left. `lines` are blockers, recoveries and services after the commit.

    `files` are those of a plan, of which `more` are left out here; `whole` says where all of it is. `digest` names the plan,
    where its service can be asked for it and no other: `would` says what that does. `answer` says who approved or rejected.
    """

    task: str
    state: str
    began: str | None
    ended: str | None
    tries: int
    outcome: Literal["done", "asks", "failed", "paused", "explained", "nothing"]
    message: str = ""
    instant: str | None = None
    amounts: tuple[Amount, ...] = ()
    lines: tuple[str, ...] = ()
    files: tuple[Touched, ...] = ()
    more: int = 0
    whole: str | None = None
    progress: tuple[Progress, ...] = ()
    digest: str | None = None
    would: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Going:
    """The run itself, as Airflow knows it: whether it `goes_on`, and what was asked for in its form."""

    goes_on: bool = False
    conf: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunPage:
    """The page; `now` is the API server's time, as ISO in UTC. `table` and `service` are those of the DAG, empty for any other
    one. While the run `goes_on` it is worth another look; `conf` is what was asked for in its form."""

    now: str
    dag: str
    run: str
    table: str
    service: str
    tasks: tuple[TaskRun, ...]
    goes_on: bool
    conf: Mapping[str, Any]


def run_page(
    dag: str, run: str, tasks: Iterable[Tried], now: datetime, going: Going = Going(), of: tuple[str, str] = ("", "")
) -> RunPage:
    """The page of what the tasks left. A value of another kind is passed over, as any code may write XComs. `of` are
    the table and the service of the DAG."""
    in_order = sorted(tasks, key=lambda task: (task.began is None, task.began or now, task.task))
    return RunPage(now.isoformat(), dag, run, *of, tuple(map(_task, in_order)), going.goes_on, going.conf)


def _task(tried: Tried) -> TaskRun:
    result: dict[str, Any] = {"outcome": "nothing", "message": _text(tried.left.get(OUTLOOK))}
    for key, read in _READ.items():
        value = tried.left.get(key)
        if isinstance(value, Mapping):
            result = read(value)
            break
    if tried.state == _RUNNING:
        result["progress"] = tuple(_progress(tried.left.get(PROGRESS)))
    if tried.answer is not None:
        verb = _ANSWERS.get(tried.answer.chosen, f"Answered {tried.answer.chosen!r}")
        result["answer"] = f"{verb} by {tried.answer.by}, {tried.answer.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    began, ended = (moment.isoformat() if moment is not None else None for moment in (tried.began, tried.ended))
    return TaskRun(tried.task, tried.state or "not begun", began, ended, tried.tries, **result)


def _progress(record: Any) -> Iterator[Progress]:
    """Files or tasks, and bytes where they are known."""
    if not isinstance(record, Mapping):
        return
    step, at, seconds = _text(record.get("step")), _text(record.get("at")), _number(record.get("seconds"))
    kinds: tuple[tuple[str, Unit, str], ...] = (("files", "count", "files"), ("bytes", "bytes", "bytes"))
    if not _number(record.get("files")):
        kinds = (("tasks", "count", "tasks"), ("bytes", "bytes", "bytes"))
    for key, unit, noun in kinds:
        total = max(_number(record.get(key)), 0)
        if total or key != "bytes":
            completed = min(max(_number(record.get(f"{key}_done")), 0), total)
            yield Progress(step, completed, total or None, unit, noun, seconds, at)


def _failed(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"outcome": "failed", "message": _text(record.get("message"))}


def _paused(record: Mapping[str, Any]) -> dict[str, Any]:
    until = f" until {_moment(record['until'])}" if record.get("until") else ""
    return {
        "outcome": "paused",
        "message": f"Paused by {_text(record.get('by'))}{until}: {_text(record.get('reason'))}",
    }


def _explained(record: Mapping[str, Any]) -> dict[str, Any]:
    files = [file for file in _list(record.get("files")) if isinstance(file, Mapping)]
    size = _number(record.get("bytes"))
    return {
        "outcome": "explained",
        "message": _text(record.get("reason")),
        "amounts": tuple(_sizes(record, files, int(_number(record.get("files_left_out"))))),
        "lines": (*_blockers(record), *(f"needs approval: {_text(cap)}" for cap in _list(record.get("over_caps")))),
        "files": tuple(map(_touched, files)),
        "more": int(_number(record.get("files_left_out"))),
        "whole": _text(record["whole_plan"]) if "whole_plan" in record else None,
        **_exactly(record, len(files) + int(_number(record.get("files_left_out"))), size),
    }


def _sizes(record: Mapping[str, Any], files: Sequence[Mapping[str, Any]], more: int) -> Iterator[Amount]:
    """How large a plan is: its items by their noun, and its bytes. If all of its files are here, and lie in partitions of the
    table, the partitions are counted."""
    noun = _text(record.get("noun")) or "file"
    if files or more:
        yield Amount(f"{noun}s", len(files) + more, "count")
    folders = {_text(file.get("path")).rpartition("/")[0] for file in files} - {""}
    if folders and not more and noun in _IN_PARTITIONS and record.get("service") in _EXACT:
        yield Amount("partitions", len(folders), "count")
    yield from _amounts(record, {"bytes": "bytes", "bytes_written": "bytes"})


def _exactly(record: Mapping[str, Any], count: int, size: float) -> dict[str, Any]:
    """The digest and the work of the plan, by which a run can be asked for this plan and no other."""
    service, digest = _text(record.get("service")), _text(record.get("digest"))
    if service not in _EXACT or not _DIGEST.fullmatch(digest) or not count:
        return {}
    verb, noun = _text(record.get("verb")), _text(record.get("noun"))
    return {"digest": digest, "would": f"{verb} {counted(count, noun)}, {size_of(int(size))}"}


def _touched(record: Mapping[str, Any]) -> Touched:
    size = record.get("bytes")
    return Touched(_text(record.get("path")), size if isinstance(size, int) else None, _text(record.get("reason")))


def _done(record: Mapping[str, Any]) -> dict[str, Any]:
    if record.get("asks") is True:
        return {"outcome": "asks", "message": _text(record.get("message"))}
    if "service" not in record:
        return {"outcome": "nothing"}
    amounts = [
        *_amounts(record, _AMOUNTS),
        *_amounts(record.get("cost"), _COSTS),
        *_amounts(record.get("gain"), _GAINS),
    ]
    return {
        "outcome": "done",
        "message": _text(record.get("message")),
        "instant": _text(record["instant"]) if record.get("instant") else None,
        "amounts": tuple(amounts),
        "lines": (*_blockers(record), *map(_text, _list(record.get("recovered"))), *_services(record)),
    }


_READ = {FAILURE: _failed, PAUSED: _paused, PLAN: _explained, RESULT: _done}
"""The readers of results, in this order: a task that failed may have left a result of an earlier try."""


def _amounts(record: Any, units: Mapping[str, Unit]) -> Iterator[Amount]:
    if not isinstance(record, Mapping):
        return
    for name, unit in units.items():
        if value := _number(record.get(name)):
            yield Amount(name.replace("_", " "), value, unit)


def _blockers(record: Mapping[str, Any]) -> Iterator[str]:
    for blocker in _list(record.get("blockers")):
        if isinstance(blocker, Mapping):
            parts = [f"{_text(blocker.get('held'))}: {_text(blocker.get('reason'))}", _text(blocker.get("fix"))]
            yield "held back: " + "; ".join(part for part in parts if part)


def _services(record: Mapping[str, Any]) -> Iterator[str]:
    for service in _list(record.get("services")):
        if isinstance(service, Mapping):
            failed = " FAILED" if service.get("failed") else ""
            yield f"{_text(service.get('service'))}{failed}: {_text(service.get('message'))}"


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _moment(value: object) -> str:
    """A time in ISO as people read it."""
    try:
        return f"{datetime.fromisoformat(_text(value)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return _text(value)


def _number(value: object) -> float:
    """A number of JSON as Python reads it, which knows NaN."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else 0
