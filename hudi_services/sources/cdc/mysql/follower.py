"""Tables of a server on their way through a run: how far they are, and what a cut says of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from hoodie.errors import HoodieError, TablePausedError
from hudi_services.sources.cdc.cuts import Behind, Cut, TablePlace
from hudi_services.sources.cdc.mysql.failover import located
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable

if TYPE_CHECKING:
    from pymysql.connections import Connection

_FRESH = re.compile(r"load (?:the table )?(?:as it is now |again )?with --start-fresh")


@dataclass
class Follower:
    """A table on its way through a run. It has all changes up to `since`, its last commit holds `stored`.

    Tables of one Hudi table share its `commits`.
    """

    commits: TargetCommits
    source: TableSource
    result: LoadResult = field(default_factory=LoadResult)
    stored: StoredPosition | None = None
    since: StoredPosition | None = None
    error: HoodieError | None = None
    parked: Behind | None = None
    is_absent: bool = False
    """The server has no such table, and its policies say that the load goes on."""
    rows: int = 0
    """The rows at the server, by its estimate."""
    size: int = 0
    """The bytes of these rows, by its estimate."""

    @property
    def name(self) -> str:
        return self.source.full_name

    @property
    def target(self) -> TargetTable:
        return self.commits.target

    @property
    def goes_on(self) -> bool:
        return self.error is None and self.parked is None

    @property
    def position(self) -> str:
        """The place of the log at which the table goes on. Empty where it has no place there."""
        if self.parked is not None:
            return self.parked.position
        return self.since.position if self.since is not None else ""

    @property
    def lacks_rows(self) -> bool:
        """It has no snapshot, or a part of one."""
        return self.stored is None or self.stored.is_loading

    def attempt(self, step: Callable[[], None]) -> None:
        """Take a step, unless an earlier one failed. Keep what it raises as the table's error."""
        if self.goes_on:
            try:
                step()
            except HoodieError as error:
                self.error = error


def by_target(followers: Iterable[Follower]) -> list[list[Follower]]:
    """Return them grouped by their Hudi tables."""
    groups: dict[int, list[Follower]] = {}
    for follower in followers:
        groups.setdefault(id(follower.commits), []).append(follower)
    return list(groups.values())


def find_places(followers: Sequence[Follower], before: Cut | None, resume: Collection[str]) -> None:
    """Set how far the tables are: where the last commit says, or at the last cut if that knows this commit."""
    for members in by_target(followers):
        first = members[0]
        try:
            first.commits.stored = first.target.stored_position()
        except HoodieError as error:
            for follower in members:
                follower.error = error
        for follower in members:
            follower.attempt(partial(_find_place, follower, before, resume))


def _find_place(follower: Follower, before: Cut | None, resume: Collection[str]) -> None:
    follower.stored = follower.since = follower.commits.place(follower.source)
    if before is None:
        return
    at = follower.stored.position if follower.stored is not None else ""
    source = follower.source.source
    place, behind = before.tables.get(follower.name), before.behind.get(follower.name)
    if place is not None and place.stored == at:
        follower.since = StoredPosition(source, before.position, before.log)
    elif behind is not None and behind.stored == at:
        if behind.parked and follower.name not in resume:
            follower.parked = behind
        elif behind.position and follower.stored is not None and follower.stored.snapshot is None:
            follower.since = StoredPosition(source, behind.position, behind.log)


def locate(control: Connection[Any], positions: LogPositions, followers: Sequence[Follower]) -> None:
    """Set `since` to the place in the log of the server that answers. Many tables are at one place, which is looked up once."""
    known: dict[tuple[str, str, bool], StoredPosition | HoodieError] = {}
    for follower in followers:
        if not follower.goes_on or follower.since is None:
            continue
        place = (follower.since.position, follower.since.log, follower.since.snapshot is None)
        if place not in known:
            try:
                known[place] = located(control, follower.since, positions)
            except HoodieError as error:
                known[place] = error
        answer = known[place]
        if isinstance(answer, HoodieError):
            follower.error = answer
        else:
            follower.since = answer


def note_place(follower: Follower, places: dict[str, TablePlace], instants: dict[int, str]) -> None:
    """Note the commit of the table at the cut. Raises PendingInstantError where another load went past the cut."""
    assert follower.stored is not None, "a table without rows has an error"
    assert follower.commits.stored is not None, "one with rows has commits"
    number = id(follower.commits)
    if number not in instants:
        instants[number] = follower.target.commit_of(follower.commits.stored)
    places[follower.name] = TablePlace(follower.target.base_path, instants[number], follower.stored.position)


def behind_of(follower: Follower, error: HoodieError, before: Cut | None, now: str) -> Behind:
    """Return what a cut says of a table that fails, or failed before. `now` is in ISO 8601."""
    earlier = before.behind.get(follower.name) if before is not None else None
    parked = not (error.retryable or isinstance(error, TablePausedError))
    since = earlier.since if earlier is not None and not earlier.parked else now
    reason = f"{error.what}: {error.found}" if error.found else error.what
    place, stored = follower.since, follower.stored
    return Behind(
        reason,
        _advice(follower.source, error.fix or "", parked=parked),
        since,
        parked,
        place.position if place is not None else "",
        place.log if place is not None else "",
        stored.position if stored is not None else "",
    )


def _advice(source: TableSource, fix: str, *, parked: bool) -> str:
    """Return what helps a table of a server, of which runs load all: they do not take the flags of a load of one table."""
    command = f"`hudi-services cdc sync {source.server} --resume {source.full_name}"
    advice = _FRESH.sub(f"read all its rows again: {command} --start-fresh`", fix)
    if not parked or "resume" in advice.lower():
        return advice
    return f"{advice}. Then {command}`, or RESUME TABLE. SKIP TABLE leaves it out".removeprefix(". ")
