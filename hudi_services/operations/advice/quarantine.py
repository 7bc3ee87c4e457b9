"""The rows that loads of a table left out, and that are in the quarantine: how many, of few and small files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from hoodie.storage import Storage, open_storage
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import BadRows
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.sources.ingest.quarantine import LOADED, kind_of
from hudi_services.sources.ingest.quarantine_load import quarantined_loads

_LOADS = 20  # whose files are listed
_COUNTED = 1 << 20  # bytes that are read to count rows
_LONGEST = 200  # characters of a reason


def bad_rows(table: Table) -> BadRows | None:
    """The rows that loads of the table left out; None without a source that has a quarantine. Rows of loads that were refused do
    not count: all rows of their files are still to be loaded.

    One listing, and one for each of 20 loads; files of a mebibyte in all are read to count their rows and reasons.
    Older loads count as such.

    Raises OSError if the folder cannot be listed.
    """
    if not isinstance(table.source, FolderSource | TopicSource):
        return None
    folder = folder_of(table, table.base_path)
    storage = open_storage(folder)
    newest, older = quarantined_loads(storage, table.base_path, _LOADS)
    loads = [load for load in newest if load.outcome == LOADED]
    files = [file for load in loads for file in load.files]
    size = sum(file.size for file in files)
    first = min((file.modified_ms for file in files), default=None)
    since = datetime.fromtimestamp(first / 1000, UTC) if first is not None else None
    if size > _COUNTED or older:
        return BadRows(folder, len(loads) + older, size, None, since)
    reasons = _reasons(storage, [file.path for file in files])
    by_kind = Counter(kind_of(reason) for reason in reasons if reason)
    kind, number = next(iter(by_kind.most_common(1)), ("", 0))
    example = next((reason for reason in reasons if kind_of(reason) == kind), "")
    return BadRows(folder, len(loads), size, len(reasons), since, example, number)


def as_values(bad: BadRows) -> dict[str, Any]:
    """The facts as JSON."""
    return {**asdict(bad), "since": bad.since.isoformat() if bad.since is not None else None}


def of_values(values: Mapping[str, Any], *, with_reason: bool) -> BadRows:
    """The facts of `as_values`. A reason may hold values of a row: without `with_reason` it is left out."""
    since = datetime.fromisoformat(values["since"]) if values["since"] is not None else None
    bad = BadRows(**{**values, "since": since})
    return bad if with_reason else replace(bad, reason="", reason_rows=0)


def _reasons(storage: Storage, paths: list[str]) -> list[str]:
    """The reason of each row: the rows are the lines."""
    lines = (line for path in paths for line in storage.read(path).decode(errors="replace").splitlines())
    return [_reason(line) for line in lines]


def _reason(line: str) -> str:
    """Empty for a line that is not whole: the load that writes it goes on, or was killed."""
    try:
        text = str(json.loads(line)["reason"])
    except (ValueError, KeyError, TypeError):
        return ""
    return " ".join(text.split())[:_LONGEST]
