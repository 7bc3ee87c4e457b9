"""The rows that loads of a table left out, and that are in the quarantine: how many, of few and small files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from hoodie.display import counted
from hoodie.errors import HoodieError
from hoodie.model.place import identity
from hoodie.storage import Storage, open_storage
from hoodie.storage.base import FileInfo
from hoodie.timeline import Instant
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import BadRows
from hudi_services.operations.inspect.history import read_once
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.operations.inspect.table_look import Look
from hudi_services.sources.ingest.quarantine import EXTRA, LOADED, kind_of
from hudi_services.sources.ingest.quarantine_load import quarantined_loads

_LOADS = 20  # whose files are listed
_COMMITS = 100  # that may name another folder
_READERS = 16  # commits are waited for, not worked on
_COUNTED = 1 << 20  # bytes that are read to count rows
_LONGEST = 200  # characters of a reason


def bad_rows(table: Table, look: Look | None = None) -> BadRows | None:
    """The rows that loads of the table left out; None without a source that has a quarantine. Rows of loads that were refused do
    not count: all rows of their files are still to be loaded. A row that two loads left out counts once, as after a rollback.

    One listing, and one for each of 20 loads; files of a mebibyte in all are read to count their rows and reasons.
    Older loads count as such. With a `look` the newest 100 commits name their rows, too, which are elsewhere if the registry has
    named another folder since.

    Raises OSError if the folder cannot be listed.
    """
    if not isinstance(table.source, FolderSource | TopicSource):
        return None
    folder = folder_of(table, table.base_path)
    storage = open_storage(folder)
    newest, older = quarantined_loads(storage, table.base_path, _LOADS)
    loads = [load for load in newest if load.outcome == LOADED]
    elsewhere = _elsewhere(look, folder, storage) if look is not None else {}
    left_files = [(storage, load.files) for load in loads]
    left_files += [(open_storage(path), tuple(files)) for path, files in elsewhere.items()]
    number_of_loads = len(left_files) + older
    size = sum(file.size for _, files in left_files for file in files)
    first = min((file.modified_ms for _, files in left_files for file in files), default=None)
    since = datetime.fromtimestamp(first / 1000, UTC) if first is not None else None
    if size > _COUNTED or older:
        return BadRows(folder, number_of_loads, size, None, since, elsewhere=tuple(elsewhere))
    reasons = _reasons(left_files)
    by_kind = Counter(kind_of(reason) for reason in reasons if reason)
    kind, number = next(iter(by_kind.most_common(1)), ("", 0))
    example = next((reason for reason in reasons if kind_of(reason) == kind), "")
    return BadRows(folder, number_of_loads, size, len(reasons), since, example, number, tuple(elsewhere))


def _elsewhere(look: Look, folder: str, storage: Storage) -> dict[str, list[FileInfo]]:
    """The files of loads whose commits name another folder than the registry, by the folder of the load. Loads that were moved to
    the folder of the registry are there by their name."""
    here = {name.rpartition("/")[2] for name in storage.list("").folders}
    result: dict[str, list[FileInfo]] = {}
    with ThreadPoolExecutor(_READERS) as pool:
        paths = list(pool.map(lambda instant: _named_by(look, instant), look.state.timeline.commits[-_COMMITS:]))
    for path in paths:
        parent, _, run = path.rpartition("/")
        if not path or run in here or identity(parent) == identity(folder):
            continue
        with suppress(OSError):  # a place that is gone has no rows
            files = [file for file in open_storage(path).list("").files if not file.name.startswith(".")]
            result |= {path: files} if files else {}
    return result


def _named_by(look: Look, instant: Instant) -> str:
    """The folder of the rows that the load of this commit left out; empty without any, or for a torn commit, which other advice
    names."""
    try:
        return str(read_once(look, instant).extra.get(EXTRA, "")).rstrip("/")
    except (HoodieError, OSError):
        return ""


def looked_text(table: Table, look: Look) -> str:
    """The quarantine as a part that was looked at. Loads of older commits may have left rows in a folder that the registry no
    longer names, so the text says how many commits were read if there are others."""
    commits = look.state.timeline.commits
    with suppress(HoodieError, OSError):  # the doctor says what is wrong with the archive
        older = len(commits) > _COMMITS or any(True for _ in look.state.archive.newest())
        if older and isinstance(table.source, FolderSource | TopicSource):
            number = min(len(commits), _COMMITS)
            return f"quarantine (of the newest {counted(number, 'commit')}, if its folder has moved)"
    return "quarantine"


def as_values(bad: BadRows) -> dict[str, Any]:
    """The facts as JSON."""
    return {**asdict(bad), "since": bad.since.isoformat() if bad.since is not None else None}


def of_values(values: Mapping[str, Any], *, with_reason: bool) -> BadRows:
    """The facts of `as_values`. A reason may hold values of a row: without `with_reason` it is left out."""
    since = datetime.fromisoformat(values["since"]) if values["since"] is not None else None
    bad = BadRows(**{**values, "since": since, "elsewhere": tuple(values.get("elsewhere", ()))})
    return bad if with_reason else replace(bad, reason="", reason_rows=0)


def _reasons(loads: Iterable[tuple[Storage, Sequence[FileInfo]]]) -> list[str]:
    """The reason of each row, from the files of each load: the rows are the lines. A row that several loads left out, with the
    same place in the same file, has one."""
    reasons: list[str] = []
    counted_before: Counter[tuple[str, ...]] = Counter()
    for storage, files in loads:
        of_load: Counter[tuple[str, ...]] = Counter()
        for line in (line for file in files for line in storage.read(file.path).decode(errors="replace").splitlines()):
            row, reason = _row(line)
            of_load[row] += 1
            if of_load[row] > counted_before[row]:
                reasons.append(reason)
        counted_before |= of_load
    return reasons


def _row(line: str) -> tuple[tuple[str, ...], str]:
    """The file, the place in it and the values of a row, and the reason. It is empty for a line that is not whole: the load that
    writes it goes on, or was killed."""
    try:
        entry = json.loads(line)
        text = str(entry["reason"])
    except (ValueError, KeyError, TypeError):
        return (line,), ""
    values = json.dumps(entry.get("row", entry.get("text")))
    return (str(entry.get("file")), text.partition(": ")[0], values), " ".join(text.split())[:_LONGEST]
