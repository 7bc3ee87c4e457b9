"""The facts of a table as it is now, from its state: each partition is listed once at most, and no data file is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain

from hoodie.clock import Clock
from hoodie.config import laid_over, own_options, select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.write import SMALL_FILE_LIMIT
from hoodie.model.files import BaseFile
from hoodie.services.clean.service import CLEAN
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, parse_time
from hoodie.view import TableState, TableView
from hudi_services.entry.objectives import Objectives
from hudi_services.entry.retention import options_of
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.facts import Facts, Growth


def gather(entry: Table, state: TableState, view: TableView, clock: Clock) -> Facts:
    """The facts by which the objectives of its entry are judged, and no more. Raises HoodieError for what cannot be
    read."""
    objectives = entry.objectives
    now = clock.now()
    base = (
        [file_slice.base_file for file_slice in view.slices if file_slice.base_file is not None]
        if _files(objectives)
        else []
    )
    logs = [log for file_slice in view.slices for log in file_slice.log_files] if _files(objectives) else []
    return Facts(
        now,
        _last_data(state) if objectives.freshness is not None else None,
        len(base),
        sum(file.size for file in base),
        Growth.of((_at(log.info.modified_ms), log.info.size) for log in logs) if _files(objectives) else None,
        _small(base, _small_limit(entry)) if _files(objectives) else None,
        Growth.of((_moment(state, instant), 1) for instant in state.timeline.instants),
        _waits(state, options_of(entry, "clean"), clock) if objectives.clean_age is not None else None,
    )


def _files(objectives: Objectives) -> bool:
    return objectives.log_ratio is not None or objectives.small_files is not None


def _last_data(state: TableState) -> datetime | None:
    """The completion of the last commit that did not only move rows or change columns; of the archive no more is read
    than that takes."""
    active = sorted(state.timeline.commits, key=lambda commit: _moment(state, commit), reverse=True)
    old = (
        earlier_instant
        for earlier_instant in state.archive.newest()
        if earlier_instant.is_completed and earlier_instant.action.completed_as in WRITE_ACTIONS
    )
    for instant in chain(active, old):
        commit_metadata = state.commit_metadata(instant)
        if not commit_metadata.moves_rows and (commit_metadata.stats or commit_metadata.replaced):
            return _moment(state, instant)
    return None


def _small(base: list[BaseFile], limit: int) -> Growth:
    """A small file alone in its partition is as it has to be."""
    small = [file for file in base if file.size < limit]
    beside = Counter(file.partition for file in small)
    return Growth.of((_at(file.info.modified_ms), 1) for file in small if beside[file.partition] > 1)


def _small_limit(entry: Table) -> int:
    """Bytes: below which writers take a file for small."""
    options: Mapping[str, object] = laid_over(options_of(entry, entry.loader), entry.hoodie)
    limit: int = resolve(select_keys(options, [SMALL_FILE_LIMIT]), [SMALL_FILE_LIMIT])[SMALL_FILE_LIMIT]
    return limit or SMALL_FILE_LIMIT.default or 0


def _waits(state: TableState, options: Mapping[str, str], clock: Clock) -> datetime | None:
    cleans = state.timeline.completed(Action.CLEAN)
    planned = parse_time(cleans[-1].time, state.zone) if cleans else None
    commit_times = [_moment(state, commit) for commit in state.timeline.commits]
    since = [instant for instant in commit_times if planned is None or instant > planned]
    if not since:
        return None
    decision = CLEAN.decide(state, own_options(options, CLEAN.options), clock)
    if decision.plan is None or not decision.items:
        return None
    return min(since)


def _moment(state: TableState, instant: Instant) -> datetime:
    return parse_time(instant.completion_time or instant.time, state.zone).astimezone(UTC)


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
