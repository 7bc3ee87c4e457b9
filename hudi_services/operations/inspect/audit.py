"""The audit of a table: its delete actions, and their files."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from hoodie.transaction.audit import AuditedFile, AuditEntry, audit_names, read_audit
from hudi_services.operations.inspect.page import Column, Lines, Listing, Page, Part
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, moment, size

_ACTIONS = (
    Column("instant", "instant"),
    Column("action", "action"),
    Column("planned", "planned (UTC)", moment, rank=2),
    Column("finished", "finished (UTC)", lambda iso: moment(iso) or "not finished"),
    Column("files", "files", count, right=True),
    Column("bytes", "size", size, right=True),
    Column("by", "by", rank=2, wraps=True),
    Column("why", "why", wraps=True),
)
_FILES = (
    Column("instant", "instant"),
    Column("action", "action"),
    Column("path", "file", rank=0),
    Column("bytes", "size", size, right=True),
    Column("reason", "why", wraps=True),
)


def audit(look: Look, limit: int, since: str | None, until: str | None, instant: str | None, path: str | None) -> Page:
    """Actions whose instants are from `since` to `until`, the newest `limit`; with `instant` that one alone, with
    `path` (a part of it, or a glob) those that deleted such files. With one of these two the files are shown, too.

    Raises ConfigError for what is no time (`Look.moment`), CorruptTableError for an entry that is torn.
    """
    matches = _matching(look, since, until, instant, path)
    entries = list(islice(matches, limit))
    older = next(matches, None) is not None
    rows = [_row(entry, files) for entry, files in entries]
    file_rows = [_file(entry, file) for entry, files in entries for file in files] if instant or path else None
    values = {"table": look.state.properties.name, "audit": rows, "older": older}
    parts: list[Part] = [Listing(_ACTIONS, rows, empty="the audit has no such action")]
    if file_rows is not None:
        values["files"] = file_rows
        parts += [Listing(_FILES, file_rows, title="files")] if file_rows else []
    return Page(values, [*parts, *([Lines([f"older ones follow: --limit {2 * limit}"])] if older else [])])


def _matching(
    look: Look, since: str | None, until: str | None, instant: str | None, path: str | None
) -> Iterator[tuple[AuditEntry, list[AuditedFile]]]:
    first = look.moment("--since", since) if since is not None else None
    last = look.moment("--until", until) if until is not None else None
    for name in audit_names(look.storage):
        if (first is not None and name.instant < first) or (last is not None and name.instant > last):
            continue
        if instant is not None and name.instant != instant:
            continue
        entry = read_audit(look.storage, name)
        files = [file for file in entry.files if path is None or _is_of(file.path, path)]
        if files or path is None:
            yield entry, files


def _is_of(file: str, pattern: str) -> bool:
    return fnmatchcase(file, pattern if any(letter in pattern for letter in "*?[") else f"*{pattern}*")


def _row(entry: AuditEntry, files: list[AuditedFile]) -> dict[str, Any]:
    """Times are ISO in UTC; `files` and `bytes` are of those that were asked for, `bytes` null where no plan says them."""
    planned, completion = entry.planned, entry.outcome
    sizes = [file.bytes for file in files if file.bytes is not None]
    run = planned.get("airflow") or {}
    where = f" in {run['dag_id']}" if run.get("dag_id") else ""
    return {
        "instant": str(entry.instant),
        "action": entry.action,
        "planned": planned.get("at"),
        "finished": completion.get("at") if completion is not None else None,
        "files": len(files),
        "bytes": sum(sizes) if sizes else None,
        "by": f"{planned.get('user')}@{planned.get('host')}, {planned.get('program')}{where}",
        "why": planned.get("why"),
        "plan": planned.get("plan"),
        "by_whom": {name: planned.get(name) for name in ("user", "host", "program", "pid", "airflow")},
        "finished_by": {name: completion.get(name) for name in ("user", "host", "program", "pid", "airflow")}
        if completion is not None
        else None,
    }


def _file(entry: AuditEntry, file: AuditedFile) -> dict[str, Any]:
    return {
        "instant": str(entry.instant),
        "action": entry.action,
        "path": file.path,
        "bytes": file.bytes,
        "reason": file.reason,
    }
