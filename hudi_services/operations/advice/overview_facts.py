"""Facts of a table from the values of `show table`, which the watcher also keeps: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from hudi_services.entry.objectives import RESTORED_BY
from hudi_services.entry.target import Target
from hudi_services.operations.advice.facts import (
    FailedChecks,
    Held,
    HeldLock,
    OpenPurge,
    PendingInstant,
    Reader,
    Skew,
    Start,
    TableFacts,
    Work,
)
from hudi_services.operations.advice.findings import of_values
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.runtime.pause import Pause
from hudi_services.sources.ingest.expectations.results import DIFFERENT_KEYS

_NOUNS = {"clean": "file", "archive": "instant", "compact": "file group", "cluster": "file group", "ttl": "partition"}
LOOKED = ("files", "plans of services", "locks", "consumers", "objectives")
"""The parts of a table that `show table` looks at."""


def overview_facts(
    name: str,
    target: Target,
    table_values: Mapping[str, Any],
    now: datetime,
    *,
    looked_at: datetime | None = None,
    starts: Iterable[Start] = (),
    registered: bool = True,
) -> TableFacts:
    """The facts in `table_values`, the values of `show table` as they were at `looked_at` (None: now)."""
    at = looked_at or now

    def since(age: float | None) -> datetime | None:
        return at - timedelta(seconds=age) if age is not None else None

    return TableFacts(
        name,
        table_values["base_path"],
        target,
        now,
        registered,
        LOOKED,
        damages=of_values(table_values.get("findings", ())),
        problems=tuple(table_values["problems"]),
        objectives=tuple(map(_verdict, table_values["objectives"])),
        work={service: _work(service, values) for service, values in table_values["next"].items()},
        starts={start.service: start for start in starts},
        pause=_pause(table_values.get("paused")),
        held=tuple(
            Held(
                row["service"],
                row["held"],
                row["instant"],
                row["action"],
                row["state"] == "COMPLETED",
                at - timedelta(seconds=row["age"]),
                row["owner"],
                row["reason"],
                row["fix"],
            )
            for row in table_values["blockers"]
        ),
        pending=tuple(
            PendingInstant(
                row["instant"],
                row["action"],
                row["state"],
                datetime.fromisoformat(row["began"]),
                row.get("markers"),
                row.get("abandoned", False),
            )
            for row in table_values["pending"]
        ),
        locks=tuple(
            HeldLock(row["path"], str(row["holder"]), since(row["age"]), row["alive"]) for row in table_values["locks"]
        ),
        readers=tuple(_readers(table_values.get("consumers", ()), at)),
        purges=tuple(_purge(row) for row in table_values.get("purges", ()) if row["can_go_on"]),
        failed_checks=_failed_checks(table_values.get("checks")),
        skew=_skew(table_values),
    )


def _skew(table_values: Mapping[str, Any]) -> Skew | None:
    """None for a table without partitions, and for a snapshot of an earlier release."""
    row = table_values.get("skew")
    if row is None:
        return None
    return Skew(
        tuple(table_values["partition_by"]),
        row["partitions"],
        row["bytes"],
        row["largest"],
        row["largest_bytes"],
        row["median_bytes"],
        row["few_rows"],
        tuple(table_values["record_key"]),
        tuple(table_values["ordering"]),
        table_values["type"] == "MERGE_ON_READ",
    )


def _failed_checks(row: Mapping[str, Any] | None) -> FailedChecks | None:
    """None also for a snapshot of an earlier release, which has no checks."""
    if not row or not row["failed"]:
        return None
    since = datetime.fromisoformat(row["completed"]) if row["completed"] else None
    lost_rows = any(result["check"] == DIFFERENT_KEYS and not result["passed"] for result in row.get("results", ()))
    return FailedChecks(row["instant"], row["told"], since, lost_rows)


def _verdict(row: Mapping[str, Any]) -> Verdict:
    return Verdict(
        row["objective"],
        row["met"],
        row["value"],
        row["limit"],
        row["unit"],
        _moment(row["since"]),
        row["urgency"],
        row.get("service", RESTORED_BY[row["objective"]]),
    )


def _work(service: str, row: Mapping[str, Any]) -> Work:
    """Stores of earlier releases have less of it."""
    return Work(
        service,
        row["due"],
        row["reason"],
        row["items"],
        row["bytes"],
        row.get("noun") or _NOUNS.get(service, "file"),
        row.get("verb") in ("remove", "drop"),
        inputs=row.get("inputs", 0),
        outputs=row.get("outputs", 0),
        over=tuple(row.get("over_caps", ())),
        digest=row.get("digest") or "",
        asked_since=_moment(row.get("asked_since")),
    )


def _pause(row: Mapping[str, Any] | None) -> Pause | None:
    if row is None:
        return None
    return Pause(row["by"], row["reason"], datetime.fromisoformat(row["since"]), _moment(row["until"]))


def _readers(rows: Iterable[Mapping[str, Any]], at: datetime) -> Iterator[Reader]:
    for row in rows:
        since = at - timedelta(seconds=row["seconds_behind"]) if row["commits_behind"] else None
        until = _moment(row["held_until"])
        yield Reader(row["consumer"], row["commits_behind"], since, until, row["passed"])


def _purge(row: Mapping[str, Any]) -> OpenPurge:
    by_savepoint = any("--delete-savepoints" in fix for fix in row["fixes"])
    at = datetime.fromisoformat(row["at"])
    return OpenPurge(
        row["condition"], at, row["ended"], row["files"], row["bytes"], tuple(row["held_by"]), by_savepoint
    )


def _moment(iso: str | None) -> datetime | None:
    return datetime.fromisoformat(iso) if iso is not None else None
