"""Invariants that hold after any events: the history of the timeline's files gives the states that readers may see, and when.

The invariants follow the TLA+ model of Hudi by J. Vanlightly (2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hoodie import HoodieTable
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State, parse_name
from hoodie.timeline.codecs.restore import decode_restore_plan
from hoodie.view import TableState
from tests.simulation.world import Moment, World
from tests.support.tables import content

NUMBER = "simulation.number"  # of a write, in the extra metadata of its commit

REPLACING = ("insert_overwrite", "insert_overwrite_table", "delete_partition")

Rows = dict[str, int | None]
"""By key its value; None is a deletion."""


@dataclass
class Write:
    """One call of `HoodieTable.write`, and its caller's answer."""

    number: int
    operation: str
    keys: tuple[str, ...]
    acknowledged: bool = False
    unclear: bool = False  # its caller cannot know: killed, or the error says so


@dataclass(frozen=True)
class Sight:
    """A reader's view of the table, between two steps of the world."""

    begun: int
    ended: int
    rows: Rows


@dataclass
class Asked:
    """The requests of actors, and their answers."""

    writes: list[Write] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    rollbacks: set[Time] = field(default_factory=set)  # instants that an actor wanted to roll back
    rolled_back: set[Time] = field(default_factory=set)  # instants that were reported as rolled back


@dataclass(frozen=True)
class _Shown:
    """The commit of a write, as long as readers see it: from a step on, until another (None: to the end)."""

    number: int
    instant: Instant
    begun: int
    ended: int | None

    @property
    def order(self) -> tuple[str, int]:
        return self.instant.completion_time or "", self.begun

    def meets(self, step: int) -> bool:
        return self.begun <= step and (self.ended is None or step < self.ended)


def judge(table: HoodieTable, world: World, asked: Asked, *, ordered: bool = False) -> None:
    """Raises AssertionError. The last value of a key is in the table, or the greatest one where rows are `ordered`."""
    state = table.state()
    shown = sorted(_shown(state, world.moments), key=lambda each: each.order)
    last = {each.number: each for each in shown if each.ended is None}
    stay = [each for each in shown if each.ended is None]
    assert len(last) == len(stay), "a write was committed twice"
    assert {each.instant.time for each in stay} == {i.time for i in commits(state) if _number(state, i) is not None}
    _check_told(asked, shown, last, set(_restored(state, world.moments, shown)))
    assert rows_of(table) == _replayed(asked.writes, stay, ordered), (
        "the table is not what the acknowledged writes add up to"
    )
    steps = sorted({step for each in shown for step in (each.begun, each.ended) if step is not None})
    for sight in asked.sights:
        moments = (sight.begun, *(step for step in steps if sight.begun < step <= sight.ended))
        states = (_replayed(asked.writes, [each for each in shown if each.meets(step)], ordered) for step in moments)
        assert sight.rows in states, f"a reader saw what was never there: {sight}"
    _check_nothing_left(state, world, {each.instant for each in shown})


def commits(state: TableState) -> list[Instant]:
    """The table's commits, with archived ones as their active files named them. One that is still on the timeline counts once."""
    found = {i.key: i for i in (*state.archive.instants(), *state.timeline.commits)}
    return [instant for instant in found.values() if instant.action.completed_as in WRITE_ACTIONS]


def rows_of(table: HoodieTable) -> Rows:
    """Rows that a reader of the table sees now."""
    return {key: value for key, (_, _, value) in content(table).items()}


def _shown(state: TableState, moments: Sequence[Moment]) -> Iterator[_Shown]:
    """The commits of writes, by the files that came to the timeline and went, and by restores, which hide them at once."""
    stay = {instant.time for instant in commits(state)}
    hidden = {time: step for step, times in _restores(state, moments) for time in times}
    went = [moment for moment in moments if moment.content is None]
    for moment in moments:
        instant = _instant(moment.path)
        if moment.content is None or instant is None or not instant.is_completed:
            continue
        if instant.action.completed_as not in WRITE_ACTIONS:
            continue
        number = state.layout.decode_commit(moment.content, instant).extra.get(NUMBER)
        if number is None:
            continue
        ends = [each.step for each in went if each.path == moment.path and each.step >= moment.step]
        end = None if instant.time in stay or not ends else min(ends)  # what was archived goes, too, and stays
        if instant.time in hidden and end is not None:
            end = min(end, hidden[instant.time])
        yield _Shown(int(number), instant, moment.step, end)


def _restores(state: TableState, moments: Sequence[Moment]) -> Iterator[tuple[int, list[Time]]]:
    """The step at which each restore began to count, and the instants that it takes back."""
    plans = {}
    for moment in moments:
        instant = _instant(moment.path)
        if moment.content is None or instant is None or instant.action is not Action.RESTORE:
            continue
        if instant.state is State.REQUESTED:
            plans[instant.time] = decode_restore_plan(moment.content, moment.path)
        elif instant.state is State.INFLIGHT:
            yield moment.step, list(plans[instant.time].times)


def _restored(state: TableState, moments: Sequence[Moment], shown: Sequence[_Shown]) -> Iterator[Time]:
    """Times that restores removed: all that readers saw and that was complete after the savepoint's commit, and no more."""
    for step, times in _restores(state, moments):
        before = sorted(
            (each for each in shown if each.meets(step - 1)),
            key=lambda each: each.instant.completion_time or each.instant.time,
        )
        gone = {each.number for each in before if each.instant.time in times}
        after = [each.number for each in before if each.number not in gone]
        assert after == [each.number for each in before][: len(after)], f"a restore left a gap: {times}"
        yield from times


def _instant(path: str) -> Instant | None:
    folder, _, name = path.rpartition("/")
    parsed = parse_name(name) if folder in (".hoodie", ".hoodie/timeline") else None
    if parsed is None:
        return None
    time, completion, action, state = parsed
    return Instant(time, action, state, completion, name)


def _number(state: TableState, instant: Instant) -> str | None:
    return state.commit_metadata(instant).extra.get(NUMBER)


def _check_told(asked: Asked, shown: Sequence[_Shown], last: dict[int, _Shown], restored: set[Time]) -> None:
    """Acknowledged writes are in, refused ones are not, and only requested rollbacks happen."""
    wanted = {each.number for each in shown if each.instant.time in asked.rollbacks | restored}
    for write in asked.writes:
        there = write.number in last
        assert there or not write.acknowledged or write.number in wanted, f"{write} was acknowledged and is not there"
        assert not there or write.acknowledged or write.unclear, f"{write} was refused and is on the timeline"
    back = [each for each in last.values() if each.instant.time in asked.rolled_back]
    assert not back, f"rolled back, and there again: {back}"


def _replayed(writes: Sequence[Write], shown: Sequence[_Shown], ordered: bool) -> Rows:
    rows: Rows = {}
    for each in shown:
        write = writes[each.number]
        if write.operation in REPLACING:
            parts = {partition_of(key) for key in write.keys}
            whole = write.operation == "insert_overwrite_table"
            rows = {key: value for key, value in rows.items() if not whole and partition_of(key) not in parts}
        for key in write.keys:
            if write.operation.startswith("delete"):
                rows.pop(key, None)
            elif not ordered or key not in rows or each.number > (rows[key] or 0):
                rows[key] = each.number
    return rows


def partition_of(key: str, step: int = 0) -> str:
    """The partition that a key's rows are written to, `step` steps on where keys move."""
    return "pqr"[(int(key[1:]) + step) % 3]


def _check_nothing_left(state: TableState, world: World, shown: set[Instant]) -> None:
    """No data file that no commit names, no markers, no locks, nothing pending but plans."""
    named = {stat.path for instant in commits(state) for stat in state.commit_metadata(instant).stats}
    data = {path for path in world.files if not path.startswith(".hoodie/") and "/.hoodie_" not in path}
    assert data <= named, f"files of no commit: {sorted(data - named)}"
    pending = {str(instant.time) for instant in state.timeline.pending}
    left = [path for path in world.files if path.startswith(".hoodie/.temp/") and path.split("/")[2] not in pending]
    assert not left, f"markers were left: {left}"
    assert ".hoodie/lock" not in world.files, "the lock was left"
