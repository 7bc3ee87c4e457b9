"""Results of earlier runs of a bootstrap: commits that stay, and a table of another bootstrap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hoodie.clock import Clock
from hoodie.config.keys import bootstrap as keys
from hoodie.config.properties.store import PROPERTIES
from hoodie.errors import TableExistsError, rollback_fix
from hoodie.model.commit import CommitMetadata
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP
from hoodie.model.time import Time
from hoodie.services.bootstrap.plan import BootstrapPlan
from hoodie.services.bootstrap.request import BootstrapRequest
from hoodie.storage.base import Storage
from hoodie.transaction.reconcile import after_completion, delete_markers
from hoodie.view import TableState, load_state

TIMES = {keys.METADATA_ONLY: METADATA_BOOTSTRAP, keys.FULL_RECORD: FULL_BOOTSTRAP}


def already_done(request: BootstrapRequest, clock: Clock) -> dict[Time, CommitMetadata] | None:
    """The commits of earlier runs of this bootstrap, by instant; None if there is no table yet.

    Raises TableExistsError when the table is another's.
    """
    storage = request.storage
    if storage.info(PROPERTIES) is None:
        return None
    state = load_state(storage, clock)
    expected = {**request.properties.raw, **request.of_source}
    other = sorted(
        name
        for name, value in expected.items()
        if name != "hoodie.table.checksum" and state.properties.raw.get(name) != value
    )
    if other:
        raise TableExistsError(
            f"There is another Hudi table at {storage.base_path}",
            found=f"{other[0]}={state.properties.raw.get(other[0])}, asked for was {expected[other[0]]}",
            fix="choose another base path, or the options of that table",
        )
    commits = {
        instant.time: state.commit_metadata(instant)
        for instant in state.timeline.commits
        if instant.time in TIMES.values()
    }
    if state.timeline.commits and not commits:
        raise TableExistsError(
            f"The table {storage.base_path} has commits that are not a bootstrap's",
            found=f"the first is {state.timeline.commits[0]}",
            fix="choose another base path",
        )
    return commits


def check_untouched(state: TableState) -> None:
    """Refuse a table with rows written since the last run: they would be there twice, as inserts into a partition that is not
    taken over yet."""
    others = [instant for instant in state.timeline.commits if instant.time not in TIMES.values()]
    if others:
        raise TableExistsError(
            f"The table {state.storage.base_path} was written to before its bootstrap was done",
            found=f"the first such commit is {others[0]}",
            fix=f"delete the table and bootstrap again before anything is written to it, or first {rollback_fix(others[0].time)}",
        )


def check_same(request: BootstrapRequest, plan: BootstrapPlan, commits: Mapping[Time, CommitMetadata]) -> None:
    """Check that the commits match the plan of their mode. Otherwise rows would be there twice, or not at all.

    Skeletons are compared folder by folder, as another selector can have as many rows. The folders of copies are not known.
    """
    for mode, commit in ((mode, commits[time]) for mode, time in TIMES.items() if time in commits):
        planned = {"": sum(file.rows for file in plan.of_mode(mode))}
        taken = {"": commit.rows_written}
        if mode == keys.METADATA_ONLY:
            planned = _rows_by_folder((file.folder, file.rows) for file in plan.of_mode(mode))
            taken = _rows_by_folder((stat.partition, stat.num_writes) for stat in commit.stats)
        for folder in sorted(planned.keys() | taken.keys()):
            rows, done_rows = planned.get(folder, 0), taken.get(folder, 0)
            if rows != done_rows:
                raise TableExistsError(
                    f"The table {request.storage.base_path} was bootstrapped from other files, or with another selector",
                    found=f"{done_rows} rows{f' of {folder}' if folder else ''} were taken over as {mode}, the plan has {rows}",
                    fix="choose another base path, or the options of that bootstrap",
                )


def _rows_by_folder(files: Iterable[tuple[str, int]]) -> dict[str, int]:
    rows: Counter[str] = Counter()
    for folder, count in files:
        rows[folder] += count
    return rows


def delete_all_markers(storage: Storage) -> None:
    """Those of an earlier run, which died when its commits were complete."""
    for time in TIMES.values():
        with after_completion(storage, time):
            delete_markers(storage, time)
