"""A table on one page: what it holds, what was done to it, what waits, and what holds that back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from hoodie.display import counted
from hoodie.markers.read import read_markers
from hoodie.model.commit import CommitMetadata
from hoodie.model.files import BaseFile
from hoodie.services.blockers import Blocker, Hold, blockers_of
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State
from hoodie.times import ago, span
from hoodie.transaction.rollback import is_plan
from hudi_services.operations.inspect.consumers import CONSUMERS, consumer_rows
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.findings import finding_rows
from hudi_services.operations.inspect.history import COMMITS, instant_row, read_once, row_of
from hudi_services.operations.inspect.locks import LOCKS, lock_rows
from hudi_services.operations.inspect.objectives import COLUMNS as OBJECTIVES
from hudi_services.operations.inspect.objectives import in_words, verdict_rows
from hudi_services.operations.inspect.page import Bars, Column, Facts, Lines, Listing, Page, Part
from hudi_services.operations.inspect.problems import PROBLEMS, guarded
from hudi_services.operations.inspect.purges import PURGES, purge_rows
from hudi_services.operations.inspect.service_plans import next_plans, next_words
from hudi_services.operations.inspect.skew import partition_skew
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, moment, size
from hudi_services.operations.objectives.verdict import judge
from hudi_services.runtime.pause import read_pause
from hudi_services.sources.ingest.expectations.results import decoded, failed

_COMMITS = 5  # that are shown
_MIB = 1024 * 1024  # bytes
_EDGES = tuple(edge * _MIB for edge in (1, 8, 32, 64, 128, 256, 512))  # bytes, between the bars of the histogram
_SERVICES = (
    Column("action", "action"),
    Column("instant", "last instant"),
    Column("completed", "completed (UTC)", moment),
    Column("age", "when", ago, right=True),
    Column("times", "on the timeline", count, right=True, rank=2),
)
_PENDING = (
    Column("instant", "instant"),
    Column("action", "action"),
    Column("state", "state"),
    Column("age", "age", span, right=True),
    Column("markers", "files begun", count, right=True),
)


def overview(look: Look) -> Page:
    """Reads the commits that wrote current base files, lists each partition and each folder of markers once, and asks
    the services what they would do.

    Problems of the table are among the values.
    """
    problems: list[str] = []
    guarded(problems, look.view.check)
    upcoming, blockers = next_plans(look, problems)
    values = {
        **_table(look),
        **_files(look, problems),
        "paused": _paused(look),
        **_last_commits(look, problems),
        "services": _services(look),
        "pending": [_pending(look, instant, problems) for instant in look.state.timeline.pending],
        "locks": lock_rows(look),
        "next": upcoming,
        "objectives": _objectives(look, problems),
        "blockers": [{"service": service, **blocker.as_dict()} for service, blocker in blockers],
        "consumers": guarded(problems, lambda: consumer_rows(look)[0]) or [],
        "purges": purge_rows(look),
        "findings": finding_rows(look),
        "problems": problems,
    }
    values["storage_calls"] = look.storage.calls
    return Page(values, [*_parts(values), *_held_back(blockers)], problems)


def _table(look: Look) -> dict[str, Any]:
    properties = look.state.properties
    last_commit = max(
        (look.completed(commit) or look.began(commit) for commit in look.state.timeline.commits), default=None
    )
    return {
        "table": properties.name,
        "base_path": look.state.storage.base_path,
        "type": properties.table_type,
        "version": properties.version,
        "record_key": list(properties.record_key_fields),
        "partition_by": list(properties.partition_fields),
        "ordering": list(properties.ordering_fields),
        "commits": len(look.state.timeline.commits),
        "last_commit": last_commit.isoformat() if last_commit is not None else None,
        "age": look.age(last_commit) if last_commit is not None else None,
    }


def _paused(look: Look) -> dict[str, Any] | None:
    current_pause = read_pause(look.storage, look.clock)
    return {**current_pause.as_dict(), "told": str(current_pause)} if current_pause is not None else None


def _last_commits(look: Look, problems: list[str]) -> dict[str, Any]:
    """The newest first, without torn ones, and the checks of the newest load among them that was checked."""
    rows: list[dict[str, Any]] = []
    checks: dict[str, Any] | None = None
    for instant in reversed(look.state.timeline.commits[-_COMMITS:]):
        metadata = guarded(problems, partial(read_once, look, instant))
        if metadata is not None:
            rows.append(row_of(look, instant, metadata))
            checks = checks or _checks(rows[-1], metadata)
    return {"last_commits": rows, "checks": checks}


def _checks(row: Mapping[str, Any], metadata: CommitMetadata) -> dict[str, Any] | None:
    """The checks of the data of a load, and how many failed; None if the commit has none."""
    results = decoded(metadata.extra)
    if not results:
        return None
    wrong = failed(results)
    summary = f"{len(wrong)} of {counted(len(results), 'check')} failed: {'; '.join(map(str, wrong))}"
    return {
        "instant": row["instant"],
        "completed": row["completed"],
        "failed": len(wrong),
        "results": [asdict(result) for result in results],
        "told": summary if wrong else f"{counted(len(results), 'check')} passed",
    }


def _files(look: Look, problems: list[str]) -> dict[str, Any]:
    """Sizes in bytes. Rows in logs, and deletions, are to be laid over those of base files; of a row that two commits wrote they
    count two. `older_*` are those of versions that are not current, of failed writes too."""
    slices = look.view.slices
    base = [file_slice.base_file for file_slice in slices if file_slice.base_file is not None]
    logs = [log.info.size for file_slice in slices for log in file_slice.log_files]
    sizes = [file.size for part in look.view.files for file in part.base_files]
    sizes += [log.info.size for part in look.view.files for log in part.log_files]
    used = sum(file.size for file in base) + sum(logs)
    all_counts = guarded(problems, lambda: row_counts(look, slices))
    counts = all_counts.of(slices) if all_counts is not None else {}
    return {
        "rows_in_base_files": counts.get("rows"),
        "rows_in_logs": counts.get("log_rows"),
        "deletions_in_logs": counts.get("log_deletions"),
        "partitions": len(look.view.files),
        "file_groups": len(slices),
        "base_files": len(base),
        "base_bytes": sum(file.size for file in base),
        "log_files": len(logs),
        "log_bytes": sum(logs),
        "older_files": len(sizes) - len(base) - len(logs),
        "older_bytes": sum(sizes) - used,
        "base_file_sizes": _histogram(base),
        "skew": partition_skew(look, all_counts),
    }


def _histogram(files: Sequence[BaseFile]) -> list[dict[str, Any]]:
    """Base files by size: from `from_bytes` to below `to_bytes`; the last bar is open."""
    edges = [0, *_EDGES]
    bars = [
        {"from_bytes": low, "to_bytes": high, "files": 0, "bytes": 0}
        for low, high in zip(edges, [*edges[1:], None], strict=True)
    ]
    for file in files:
        bar: dict[str, Any] = bars[bisect_right(edges, file.size) - 1]
        bar["files"] += 1
        bar["bytes"] += file.size
    return bars


def _services(look: Look) -> list[dict[str, Any]]:
    """The last of each kind of completed instant. On a merge-on-read table a commit is a compaction."""
    rows = []
    for action in Action:
        completed = [i for i in look.state.timeline.completed(action) if i.action.completed_as is action]
        if not completed or (action in WRITE_ACTIONS and not _is_service(look, action)):
            continue
        name = "compaction" if action is Action.COMMIT else str(action)
        rows.append({**instant_row(look, completed[-1]), "action": name, "times": len(completed)})
    return rows


def _pending(look: Look, instant: Instant, problems: list[str]) -> dict[str, Any]:
    """A pending instant. `markers` is the number of data files that its markers name: as many were begun. Plans that
    are not carried out have no markers. `abandoned`: no process is known to be at work on it, and it is no plan."""
    is_inflight = instant.state is State.INFLIGHT and instant.action.completed_as in WRITE_ACTIONS
    markers = guarded(problems, lambda: len(read_markers(look.storage, str(instant.time)))) if is_inflight else None
    is_work = not is_plan(look.state, instant.time, instant.action)
    hold, locking = Hold(instant, "", ""), look.locking
    blockers = (
        guarded(problems, lambda: blockers_of([hold], look.state, look.clock, look.sharing, locking))
        if is_work
        else None
    )
    return {
        **instant_row(look, instant),
        "markers": markers,
        "abandoned": blockers is not None and blockers[0].owner is None,
    }


def _is_service(look: Look, action: Action) -> bool:
    """Return true for actions of services. Replacecommits are mostly clusterings."""
    return action is Action.REPLACE_COMMIT or (action is Action.COMMIT and look.state.properties.is_merge_on_read)


def _objectives(look: Look, problems: list[str]) -> list[dict[str, Any]]:
    """The verdicts on the table by its entry in the registry; empty without an entry."""
    facts = guarded(problems, lambda: look.facts)
    return verdict_rows(judge(look.entry.objectives, facts)) if look.entry is not None and facts is not None else []


def _held_back(blockers: Sequence[tuple[str, Blocker]]) -> list[Part]:
    return [Lines([f"{service}: {blocker}" for service, blocker in blockers], "held back")] if blockers else []


def _parts(facts: dict[str, Any]) -> list[Part]:
    keys = [("keys", ", ".join(facts["record_key"]) or "generated")]
    keys += [("partitioned by", ", ".join(facts["partition_by"]))] if facts["partition_by"] else []
    keys += [("ordered by", ", ".join(facts["ordering"]))] if facts["ordering"] else []
    fresh = f"{moment(facts['last_commit'])} UTC, {ago(facts['age'])}" if facts["last_commit"] else "never"
    parts: list[Part] = [Lines(facts["problems"], PROBLEMS, alarming=True)] if facts["problems"] else []
    parts.append(
        Facts(
            [
                ("table", f"{facts['table']}  {facts['type']}, version {facts['version']}"),
                ("at", facts["base_path"]),
                *([("paused", facts["paused"]["told"])] if facts["paused"] is not None else []),
                *keys,
                ("last commit", f"{fresh}; {counted(facts['commits'], 'commit')} on the timeline"),
                ("rows", _rows(facts)),
                ("files", _sum(facts, "base_files", "base_bytes", f"in {counted(facts['partitions'], 'partition')}")),
                ("logs", _sum(facts, "log_files", "log_bytes", f"of {counted(facts['file_groups'], 'file group')}")),
                ("older versions", _sum(facts, "older_files", "older_bytes", "that may be cleaned some day")),
                *(
                    [("checks", f"{facts['checks']['told']} (load {facts['checks']['instant']})")]
                    if facts["checks"]
                    else []
                ),
                *[(name, next_words(name, outlook)) for name, outlook in facts["next"].items()],
            ]
        )
    )
    if facts["base_files"]:
        bars = [(_label(bar), bar["files"], size(bar["bytes"])) for bar in facts["base_file_sizes"] if bar["files"]]
        parts.append(Bars(bars, "base files by size"))
    if facts["objectives"]:
        parts.append(Listing(OBJECTIVES, [in_words(objective) for objective in facts["objectives"]], "objectives"))
    parts.append(Listing(COMMITS, facts["last_commits"], "last commits", "none"))
    for title, columns in (
        ("consumers", CONSUMERS),
        ("purges", PURGES),
        ("services", _SERVICES),
        ("pending", _PENDING),
        ("locks", LOCKS),
    ):
        if facts[title]:
            parts.append(Listing(columns, facts[title], title))
    return parts


def _rows(facts: dict[str, Any]) -> str:
    base, rows, deletions = facts["rows_in_base_files"], facts["rows_in_logs"], facts["deletions_in_logs"]
    if base is None:
        return "not known"
    logs = (
        f"; logs lay {counted(rows, 'row')} and {counted(deletions, 'deletion')} over them"
        if facts["log_files"]
        else ""
    )
    return f"{count(base)} in base files{logs}"


def _sum(facts: dict[str, Any], files: str, amount: str, where: str) -> str:
    return f"{count(facts[files])}, {size(facts[amount])}, {where}" if facts[files] else "none"


def _label(bar: dict[str, Any]) -> str:
    return f"to {size(bar['to_bytes'])}" if bar["to_bytes"] is not None else f"from {size(bar['from_bytes'])}"
