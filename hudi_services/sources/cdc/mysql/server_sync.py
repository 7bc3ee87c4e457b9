"""All tables of a server that are loaded into the lake: snapshots of new ones, then one pass over the log for all."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from hoodie.clock import Clock
from hoodie.errors import HoodieError, PendingInstantError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.connection import connected, rows_of
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.follower import Follower, behind_of, by_target, find_places, locate, note_place
from hudi_services.sources.cdc.mysql.group_load import MergedLoad, is_large
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.log_reader import LogReader
from hudi_services.sources.cdc.mysql.log_retention import log_kept
from hudi_services.sources.cdc.mysql.position import LogPosition, log_position
from hudi_services.sources.cdc.mysql.route import Route
from hudi_services.sources.cdc.mysql.session_pool import SessionPool
from hudi_services.sources.cdc.mysql.sessions import Session
from hudi_services.sources.cdc.mysql.snapshot_load import SnapshotLoad
from hudi_services.sources.cdc.mysql.source_check import check_server, check_table
from hudi_services.sources.cdc.mysql.table_load import SESSIONS, route_of
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import keys_now
from hudi_services.sources.cdc.mysql.target_batch import TargetBatch, TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.cdc.progress_report import NoReport, SyncReport

if TYPE_CHECKING:
    from pymysql.connections import Connection

_log = logging.getLogger(__name__)
State = Literal["current", "failed", "parked", "refused", "skipped", "dropped"]


@dataclass(frozen=True)
class TableResult:
    """A table after a run. The next run tries `failed` tables again, `parked` ones wait until a user resumes them.

    `dropped` ones are gone at the server. `refused` ones are not loaded, by the plan of the server, nor are `skipped` ones, by a
    user.
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


@dataclass(frozen=True)
class ServerMoment:
    """A place of the server's log, and the server's time there in ISO 8601."""

    position: LogPosition
    time: str


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

    def run(
        self,
        *,
        resume: Collection[str] = (),
        fresh: Collection[str] = (),
        skip: Mapping[str, HoodieError] | None = None,
        until: ServerMoment | None = None,
    ) -> SyncResult:
        """Bring all tables to the end of the log as it is when new ones are loaded, and store a cut there.

        A table that fails leaves the others alone. `resume` names parked tables that are tried again, `fresh` those whose rows
        are all read again, `skip` those that are left out or parked now, and why. The cut is at `until`, and new tables wait,
        unless rows of a table have to be read again. Raises HoodieError where the server does not answer, its log cannot be
        read, or another process follows it.
        """
        self.report.began()
        try:
            return self._run(resume, fresh, skip or {}, until)
        finally:
            self.report.ended()

    def _run(
        self,
        resume: Collection[str],
        fresh: Collection[str],
        skip: Mapping[str, HoodieError],
        until: ServerMoment | None,
    ) -> SyncResult:
        before = self.cuts.latest()
        positions = LogPositions(self.name, self.server, self.environ)
        commits = [TargetCommits(target, None) for target in self.targets]
        followers = [Follower(commit, source) for commit in commits for source in commit.target.source.tables]
        with closing(Session(self._connected)) as session:
            find_places(followers, before, resume)
            for follower in followers:
                follower.error = follower.error or skip.get(follower.name)
            self._check(session.opened(), followers)
            going = [follower for follower in followers if follower.goes_on]
            again = [follower for follower in going if follower.name in fresh and follower.stored is not None]
            new = [follower for follower in going if follower.lacks_rows and follower not in again]
            if until is not None:
                for follower in new:
                    follower.error = _not_loaded(follower)
            elif new:
                control = session.opened()
                self._note_log(control, positions, followers, end_of_log(control))
                self._load(session, new, positions)
            if again:
                self._load(session, again, positions, start_fresh=True)
            control = session.opened()
            now = until if until is not None else _now(control)
            locate(control, positions, followers)
            while stale := _apply(control, positions, followers, now.position):
                # Rows that are read again are of now, so the others have to come to a later place, too.
                _note_end(
                    [follower for follower in followers if follower not in stale], control, positions, now.position
                )
                self._load(session, stale, positions, start_fresh=True)
                control = session.opened()
                now = _now(control)
            reached = positions.stored_position(control, self.name, now.position)
            for follower in followers:
                source = follower.source
                if follower.is_absent:  # it may have come back in the meantime
                    follower.is_absent = keys_now(control, source.database, source.name) is None
            waiting = [follower for follower in followers if not follower.goes_on]
            self._note_log(control, positions, waiting, now.position)
        cut = self._cut(before, reached, now.time, followers)
        self.cuts.put(cut)
        return SyncResult({follower.name: _result(follower, cut) for follower in followers}, cut.number, cut.position)

    def _check(self, control: Connection[Any], followers: Sequence[Follower]) -> None:
        databases = tuple(dict.fromkeys(follower.source.database for follower in followers))
        facts = server_facts(control, databases, self.clock)
        rows = {table.full_name: table.rows for table in facts.tables}
        self.report.counted(rows)
        check_server(self.name, self.server, self.environ, facts)
        sizes = {table.full_name: table.size for table in facts.tables}
        for follower in followers:
            follower.rows, follower.size = rows.get(follower.name, 0), sizes.get(follower.name, 0)
            follower.is_absent = follower.name not in sizes
            follower.attempt(partial(check_table, facts, follower.source))

    def _load(
        self, control: Session, followers: Sequence[Follower], positions: LogPositions, *, start_fresh: bool = False
    ) -> None:
        """Read all rows of these tables, or those that an earlier run did not reach. `start_fresh` replaces what is there.

        Small tables go first: none of them waits for hours until a large one is read.
        """
        control.close()  # the one that asks when a file of the log began takes its place

        def load(follower: Follower) -> None:
            read = partial(self.report.read, follower.name)
            try:
                load = SnapshotLoad(sessions, positions, follower.target, follower.result, read=read)
                follower.commits.stored = load.run(follower.stored, start_fresh=start_fresh)
                follower.stored = follower.since = follower.commits.stored
            finally:
                self.report.loaded(follower.name)

        self.report.loads([follower.name for follower in followers if follower.goes_on])

        def load_all(members: Sequence[Follower]) -> None:
            if members[0].target.is_merged:
                self._load_merged(members, positions, sessions, again=start_fresh)
            else:
                members[0].attempt(partial(load, members[0]))

        by_size = sorted(by_target(followers), key=lambda members: sum(follower.size for follower in members))
        with closing(SessionPool(self._connected, SESSIONS)) as sessions, ThreadPoolExecutor(SESSIONS) as threads:
            list(threads.map(load_all, by_size))

    def _connected(self) -> AbstractContextManager[Connection[Any]]:
        return connected(self.name, self.server, self.environ)

    def _load_merged(
        self, members: Sequence[Follower], positions: LogPositions, sessions: SessionPool, *, again: bool
    ) -> None:
        """Read all rows of these tables of one Hudi table."""
        by_name = {follower.name: follower for follower in members}

        def fail(source: TableSource, error: HoodieError) -> None:
            by_name[source.full_name].error = error
            self.report.loaded(source.full_name)

        commits, results = members[0].commits, {name: follower.result for name, follower in by_name.items()}
        sources = [follower.source for follower in members]
        large = {follower.name for follower in members if is_large(follower.rows, follower.size)}
        try:
            MergedLoad(sessions, positions, commits, results, fail, self.report, large).run(sources, again=again)
        except HoodieError as error:
            for follower in members:
                place = commits.place(follower.source)
                if follower.goes_on and (again or place is None or place.is_loading):
                    follower.error = error
        for follower in members:
            follower.stored = commits.place(follower.source)
            if follower.goes_on:
                follower.since = follower.stored

    def _note_log(
        self, control: Connection[Any], positions: LogPositions, followers: Sequence[Follower], end: LogPosition
    ) -> None:
        """Note how long the server keeps its log from the places of these tables on. No error ends the run: it is only shown."""
        try:
            needed = [log_position(at) for follower in followers if (at := follower.position)]
            self.report.log_kept(log_kept(control, [*needed, end], positions.created))
        except Exception as error:  # noqa: BLE001 - those of the server, of its driver and of texts
            _log.warning("It is not known how long the server %s keeps its log: %s", self.name, error)

    def _cut(self, before: Cut | None, reached: StoredPosition, time: str, followers: Sequence[Follower]) -> Cut:
        places: dict[str, TablePlace] = {}
        behind: dict[str, Behind] = {}
        instants: dict[int, str] = {}
        for follower in followers:
            follower.attempt(partial(note_place, follower, places, instants))
            if follower.parked is not None:
                behind[follower.name] = follower.parked
            elif follower.error is not None:
                behind[follower.name] = behind_of(follower, follower.error, before, self.clock.now().isoformat())
        dropped = tuple(follower.name for follower in followers if follower.is_absent and follower.name in places)
        number = before.number + 1 if before is not None else 1
        return Cut(number, reached.position, reached.log, time, places, behind, dropped)


def _apply(
    control: Connection[Any], positions: LogPositions, followers: Sequence[Follower], end: LogPosition
) -> list[Follower]:
    """Apply changes up to `end`. Return the tables whose rows have to be read again: they have all up to the reason."""
    routes: dict[tuple[str, str], Route] = {}
    by_name = {follower.name: follower for follower in followers}
    for members in by_target(followers):
        commits = members[0].commits
        batch = TargetBatch(commits, lambda name, place: positions.stored_position(control, name, place))
        for member in members:
            if member.goes_on and member.stored is not None and member.since is not None:
                route = route_of(control, positions, commits, member.source, member.since.place, member.result, batch)
                routes[route.name] = route
    if not routes:
        return []

    def leave(route: Route, error: HoodieError) -> None:
        by_name[route.source.full_name].error = error

    all_routes = tuple(routes.values())
    reader = LogReader(positions, routes, leave)
    reader.run(control, min(route.since for route in all_routes), end)
    for route in all_routes:
        follower = by_name[route.source.full_name]
        stored = follower.commits.place(follower.source)
        if stored != follower.stored:
            follower.stored = follower.since = stored
    return [by_name[route.source.full_name] for route in reader.stale]


def _note_end(
    followers: Sequence[Follower], control: Connection[Any], positions: LogPositions, end: LogPosition
) -> None:
    """Note that all changes up to `end` are in the tables, so that they are not read again."""
    reached = positions.stored_position(control, "", end)
    for follower in followers:
        if follower.goes_on:
            follower.since = replace(reached, source=follower.source.source)


def _result(follower: Follower, cut: Cut) -> TableResult:
    behind = cut.behind.get(follower.name)
    if behind is None:
        return TableResult("dropped" if follower.name in cut.dropped else "current", follower.result)
    return TableResult("parked" if behind.parked else "failed", follower.result, behind.reason, behind.fix)


def _now(control: Connection[Any]) -> ServerMoment:
    time = server_time(control)
    return ServerMoment(end_of_log(control), time)


def server_time(control: Connection[Any]) -> str:
    """Return the time of a server in ISO 8601."""
    [[time]] = rows_of(control, "SELECT DATE_FORMAT(NOW(6), '%Y-%m-%dT%H:%i:%s.%f+00:00')")
    return str(time)


def _not_loaded(follower: Follower) -> HoodieError:
    server = follower.source.server
    return PendingInstantError(
        f"The table {follower.name} has no rows yet", fix=f"`hudi-services cdc sync {server}` reads them"
    )
