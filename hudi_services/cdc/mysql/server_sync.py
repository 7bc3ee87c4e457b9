"""All tables of a server that are loaded into the lake: snapshots of new ones, then one pass over the log for all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from hoodie.clock import Clock
from hoodie.errors import HoodieError, PendingInstantError
from hudi_services.cdc.cuts import Behind, Cut, CutStore, TablePlace
from hudi_services.cdc.mysql.binlog.log import end_of_log
from hudi_services.cdc.mysql.connection import connected, rows_of
from hudi_services.cdc.mysql.facts import server_facts
from hudi_services.cdc.mysql.failover import located
from hudi_services.cdc.mysql.group_load import MergedLoad
from hudi_services.cdc.mysql.load_result import LoadResult
from hudi_services.cdc.mysql.log_identity import StoredPosition
from hudi_services.cdc.mysql.log_positions import LogPositions
from hudi_services.cdc.mysql.log_reader import LogReader
from hudi_services.cdc.mysql.log_retention import log_kept
from hudi_services.cdc.mysql.position import LogPosition, log_position
from hudi_services.cdc.mysql.route import Route
from hudi_services.cdc.mysql.session_pool import SessionPool
from hudi_services.cdc.mysql.sessions import Session
from hudi_services.cdc.mysql.snapshot_load import SnapshotLoad
from hudi_services.cdc.mysql.source_check import check_server, check_table
from hudi_services.cdc.mysql.table_load import SESSIONS, route_of
from hudi_services.cdc.mysql.table_source import TableSource
from hudi_services.cdc.mysql.target_batch import TargetBatch, TargetCommits
from hudi_services.cdc.mysql.target_table import TargetTable
from hudi_services.cdc.progress_report import NoReport, SyncReport
from hudi_services.entry.server import DatabaseServer

if TYPE_CHECKING:
    from pymysql.connections import Connection

_log = logging.getLogger(__name__)
State = Literal["current", "failed", "parked", "refused", "skipped"]


@dataclass(frozen=True)
class TableResult:
    """A table after a run. The next run tries `failed` tables again, `parked` ones wait until a user resumes them.

    `refused` ones are not loaded, by the plan of the server, nor are `skipped` ones, by a user.
    """

    state: State
    load: LoadResult
    reason: str = ""
    fix: str = ""


@dataclass(frozen=True)
class SyncResult:
    """Results by the names of tables, the number of the cut that all `current` ones reached, and its place in the log."""

    tables: Mapping[str, TableResult]
    cut: int
    position: str


@dataclass
class _Follower:
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
    size: int = 0
    """Bytes of the rows at the server, by its estimate."""

    @property
    def name(self) -> str:
        return self.source.full_name

    @property
    def target(self) -> TargetTable:
        return self.commits.target

    @property
    def goes_on(self) -> bool:
        return self.error is None and self.parked is None


@dataclass(frozen=True)
class ServerSync:
    """The tables `targets` of the server `name`, and the cuts of earlier runs."""

    name: str
    server: DatabaseServer
    environ: Mapping[str, str]
    targets: Sequence[TargetTable]
    cuts: CutStore
    clock: Clock
    report: SyncReport = field(default_factory=NoReport)

    def run(self, *, resume: Collection[str] = (), skip: Mapping[str, HoodieError] | None = None) -> SyncResult:
        """Bring all tables to the end of the log as it is when new ones are loaded, and store a cut there.

        A table that fails leaves the others alone. `resume` names parked tables that are tried again, `skip` those that are
        parked now, and why. Raises HoodieError where the server does not answer, its log cannot be read, or another process
        follows it.
        """
        self.report.began()
        try:
            return self._run(resume, skip or {})
        finally:
            self.report.ended()

    def _run(self, resume: Collection[str], skip: Mapping[str, HoodieError]) -> SyncResult:
        before = self.cuts.latest()
        positions = LogPositions(self.name, self.server, self.environ)
        commits = [TargetCommits(target, None) for target in self.targets]
        followers = [_Follower(each, source) for each in commits for source in each.target.source.tables]
        with closing(Session(self._connected)) as session:
            _find_places(followers, before, resume)
            for follower in followers:
                follower.error = follower.error or skip.get(follower.name)
            self._check(session.opened(), followers)
            new = [follower for follower in followers if follower.goes_on and _lacks_rows(follower)]
            if new:
                control = session.opened()
                self._note_log(control, positions, followers, end_of_log(control))
                self._load(session, new, positions)
            control = session.opened()
            time, end = _server_time(control), end_of_log(control)
            _locate(control, positions, followers)
            while stale := _apply(control, positions, followers, end):
                # Rows that are read again are of now, so the others have to come to a later place, too.
                _note_end([follower for follower in followers if follower not in stale], control, positions, end)
                self._load(session, stale, positions, start_fresh=True)
                control = session.opened()
                time, end = _server_time(control), end_of_log(control)
            reached = positions.stored_position(control, self.name, end)
            self._note_log(control, positions, [follower for follower in followers if not follower.goes_on], end)
        cut = self._cut(before, reached, time, followers)
        self.cuts.put(cut)
        return SyncResult({follower.name: _result(follower, cut) for follower in followers}, cut.number, cut.position)

    def _check(self, control: Connection[Any], followers: Sequence[_Follower]) -> None:
        databases = tuple(dict.fromkeys(follower.source.database for follower in followers))
        facts = server_facts(control, databases, self.clock)
        self.report.counted({table.full_name: table.rows for table in facts.tables})
        check_server(self.name, self.server, self.environ, facts)
        sizes = {table.full_name: table.size for table in facts.tables}
        for follower in followers:
            follower.size = sizes.get(follower.name, 0)
            _try(follower, partial(check_table, facts, follower.source))

    def _load(
        self, control: Session, followers: Sequence[_Follower], positions: LogPositions, *, start_fresh: bool = False
    ) -> None:
        """Read all rows of these tables, or those that an earlier run did not reach. `start_fresh` replaces what is there.

        Small tables go first: none of them waits for hours until a large one is read.
        """
        control.close()  # the one that asks when a file of the log began takes its place

        def load(follower: _Follower) -> None:
            read = partial(self.report.read, follower.name)
            try:
                load = SnapshotLoad(sessions, positions, follower.target, follower.result, read=read)
                follower.commits.stored = load.run(follower.stored, start_fresh=start_fresh)
                follower.stored = follower.since = follower.commits.stored
            finally:
                self.report.loaded(follower.name)

        self.report.loads([follower.name for follower in followers if follower.goes_on])

        def load_all(members: Sequence[_Follower]) -> None:
            if members[0].target.is_merged:
                self._load_merged(members, positions, sessions, again=start_fresh)
            else:
                _try(members[0], partial(load, members[0]))

        by_size = sorted(_by_target(followers), key=lambda members: sum(follower.size for follower in members))
        with closing(SessionPool(self._connected, SESSIONS)) as sessions, ThreadPoolExecutor(SESSIONS) as threads:
            list(threads.map(load_all, by_size))

    def _connected(self) -> AbstractContextManager[Connection[Any]]:
        return connected(self.name, self.server, self.environ)

    def _load_merged(
        self, members: Sequence[_Follower], positions: LogPositions, sessions: SessionPool, *, again: bool
    ) -> None:
        """Read all rows of these tables of one Hudi table."""
        by_name = {follower.name: follower for follower in members}

        def fail(source: TableSource, error: HoodieError) -> None:
            by_name[source.full_name].error = error
            self.report.loaded(source.full_name)

        def loaded(source: TableSource, rows: int) -> None:
            self.report.read(source.full_name, rows)
            self.report.loaded(source.full_name)

        commits, results = members[0].commits, {name: follower.result for name, follower in by_name.items()}
        sources = [follower.source for follower in members]
        try:
            MergedLoad(sessions, positions, commits, results, fail, loaded).run(sources, again=again)
        except HoodieError as error:
            for follower in members:
                if follower.goes_on and (again or commits.place(follower.source) is None):
                    follower.error = error
        for follower in members:
            follower.stored = commits.place(follower.source)
            if follower.goes_on:
                follower.since = follower.stored

    def _note_log(
        self, control: Connection[Any], positions: LogPositions, followers: Sequence[_Follower], end: LogPosition
    ) -> None:
        """Note how long the server keeps its log from the places of these tables on. No error ends the run: it is only shown."""
        try:
            needed = [log_position(at) for follower in followers if (at := _position(follower))]
            self.report.log_kept(log_kept(control, [*needed, end], positions.created))
        except Exception as error:  # noqa: BLE001 - those of the server, of its driver and of texts
            _log.warning("It is not known how long the server %s keeps its log: %s", self.name, error)

    def _cut(self, before: Cut | None, reached: StoredPosition, time: str, followers: Sequence[_Follower]) -> Cut:
        places: dict[str, TablePlace] = {}
        behind: dict[str, Behind] = {}
        instants: dict[int, str] = {}
        for follower in followers:
            _try(follower, partial(_place, follower, places, instants))
            if follower.parked is not None:
                behind[follower.name] = follower.parked
            elif follower.error is not None:
                behind[follower.name] = _behind(follower, follower.error, before, self.clock.now().isoformat())
        number = before.number + 1 if before is not None else 1
        return Cut(number, reached.position, reached.log, time, places, behind)


def _try(follower: _Follower, step: Callable[[], None]) -> None:
    """Take a step of one table, unless an earlier one failed. Keep what it raises as the table's error."""
    if follower.goes_on:
        try:
            step()
        except HoodieError as error:
            follower.error = error


def _by_target(followers: Iterable[_Follower]) -> list[list[_Follower]]:
    groups: dict[int, list[_Follower]] = {}
    for follower in followers:
        groups.setdefault(id(follower.commits), []).append(follower)
    return list(groups.values())


def _find_places(followers: Sequence[_Follower], before: Cut | None, resume: Collection[str]) -> None:
    """Set how far the tables are: where the last commit says, or at the last cut if that knows this commit."""
    for members in _by_target(followers):
        first = members[0]
        try:
            first.commits.stored = first.target.stored_position()
        except HoodieError as error:
            for follower in members:
                follower.error = error
        for follower in members:
            _try(follower, partial(_find_place, follower, before, resume))


def _find_place(follower: _Follower, before: Cut | None, resume: Collection[str]) -> None:
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


def _locate(control: Connection[Any], positions: LogPositions, followers: Sequence[_Follower]) -> None:
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


def _apply(
    control: Connection[Any], positions: LogPositions, followers: Sequence[_Follower], end: LogPosition
) -> list[_Follower]:
    """Apply changes up to `end`. Return the tables whose rows have to be read again: they have all up to the reason."""
    routes: dict[tuple[str, str], Route] = {}
    by_name = {follower.name: follower for follower in followers}
    for members in _by_target(followers):
        commits = members[0].commits
        batch = TargetBatch(commits, lambda name, place: positions.stored_position(control, name, place))
        for one in members:
            if one.goes_on and one.stored is not None and one.since is not None:
                route = route_of(control, positions, commits, one.source, one.since.place, one.result, batch)
                routes[route.name] = route
    if not routes:
        return []

    def leave(route: Route, error: HoodieError) -> None:
        by_name[route.source.full_name].error = error

    taken = tuple(routes.values())
    reader = LogReader(positions, routes, leave)
    reader.run(control, min(route.since for route in taken), end)
    for route in taken:
        follower = by_name[route.source.full_name]
        stored = follower.commits.place(follower.source)
        if stored != follower.stored:
            follower.stored = follower.since = stored
    return [by_name[route.source.full_name] for route in reader.stale]


def _position(follower: _Follower) -> str:
    """Return the place of the log at which a table goes on. Empty where it has no place there."""
    if follower.parked is not None:
        return follower.parked.position
    return follower.since.position if follower.since is not None else ""


def _lacks_rows(follower: _Follower) -> bool:
    return follower.stored is None or follower.stored.is_loading


def _note_end(
    followers: Sequence[_Follower], control: Connection[Any], positions: LogPositions, end: LogPosition
) -> None:
    """Note that all changes up to `end` are in the tables, so that they are not read again."""
    reached = positions.stored_position(control, "", end)
    for follower in followers:
        if follower.goes_on:
            follower.since = replace(reached, source=follower.source.source)


def _place(follower: _Follower, places: dict[str, TablePlace], instants: dict[int, str]) -> None:
    """Note the commit of the table at the cut. Raises PendingInstantError where another load went past the cut."""
    assert follower.stored is not None, "a table without rows has an error"
    assert follower.commits.stored is not None, "one with rows has commits"
    number = id(follower.commits)
    if number not in instants:
        instants[number] = follower.target.commit_of(follower.commits.stored)
    places[follower.name] = TablePlace(follower.target.base_path, instants[number], follower.stored.position)


def _behind(follower: _Follower, error: HoodieError, before: Cut | None, now: str) -> Behind:
    earlier = before.behind.get(follower.name) if before is not None else None
    parked = not (error.retryable or isinstance(error, PendingInstantError))
    since = earlier.since if earlier is not None and not earlier.parked else now
    reason = f"{error.what}: {error.found}" if error.found else error.what
    place, stored = follower.since, follower.stored
    return Behind(
        reason,
        error.fix or "",
        since,
        parked,
        place.position if place is not None else "",
        place.log if place is not None else "",
        stored.position if stored is not None else "",
    )


def _result(follower: _Follower, cut: Cut) -> TableResult:
    behind = cut.behind.get(follower.name)
    if behind is None:
        return TableResult("current", follower.result)
    return TableResult("parked" if behind.parked else "failed", follower.result, behind.reason, behind.fix)


def _server_time(control: Connection[Any]) -> str:
    [[time]] = rows_of(control, "SELECT DATE_FORMAT(NOW(6), '%Y-%m-%dT%H:%i:%s.%f+00:00')")
    return str(time)
