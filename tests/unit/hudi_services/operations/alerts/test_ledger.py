"""Every trouble is sent, never twice within the interval; a process that is killed sends it once more at most."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hudi_services.operations.alerts.conditions import Observation, Trouble
from hudi_services.operations.alerts.ledger import delivered, due, noticed
from hudi_services.operations.alerts.store import AlertStore
from hudi_services.operations.watch.store import SnapshotStore

START = datetime(2026, 1, 1, tzinfo=UTC)
REPEAT = timedelta(hours=6)
TROUBLES = [
    Trouble("objective", table, what, "text", START) for table in ("a", "b") for what in ("freshness", "log_ratio")
]


def shown(messages):
    return [(each.happening, each.delivery.trouble.table, each.delivery.trouble.what) for each in messages]


STEPS = st.lists(
    st.tuples(
        st.sets(st.sampled_from(TROUBLES)),
        st.sampled_from([timedelta(minutes=1), timedelta(hours=2), REPEAT, timedelta(days=2)]),
        st.sampled_from(["taken", "taken", "away", "killed before", "killed after"]),
        st.booleans(),
    ),
    max_size=12,
)


@given(STEPS)
def test_any_course_of_troubles_is_told(steps):
    rows, now = {}, START
    stood: dict[str, datetime] = {}  # by trouble, when the hook last got it as open
    untold: set[str] = set()
    killed, twice = 0, 0
    was: set[str] = set()
    last = set(steps[-1][0]) if steps else set()
    for standing, later, fate, blind in [*steps, (last, timedelta(minutes=1), "taken", False)]:
        now += later
        if fate == "killed before":  # anything was kept
            continue
        seen = Observation(tuple(standing), frozenset({("objective", "a")} if blind else ()))
        keys = {each.key for each in standing}
        untold |= keys - was
        # a blind look neither ends nor begins what stood before
        was = keys | {key for key in was if blind and key in {each.key for each in TROUBLES if each.table == "a"}}
        stood = {key: at for key, at in stood.items() if key in was}  # it may open again
        found = noticed(rows.values(), seen, ["ops"], now)
        rows = {each.trouble.key: each for each in found}
        messages = due(found, "ops", REPEAT, now)
        if fate == "away":
            continue
        for each in messages:
            key = each.delivery.trouble.key
            if each.happening in ("began", "stands"):
                if key in stood and now - stood[key] < REPEAT:
                    twice += 1
                stood[key] = now
            else:
                assert key not in was
            untold.discard(key)
        if fate == "killed after":
            killed += len(messages)
            continue
        kept, done = delivered(messages, found, now)
        rows |= {each.trouble.key: each for each in kept}
        for each in done:
            del rows[each.trouble.key]
        assert set(rows) == was, "nothing is kept of what ended, and all of what stands"
        assert all(rows[key].told_at is not None for key in rows)
        assert all(now - stood[key] < REPEAT for key in was)
    assert not untold
    assert twice <= killed


def test_it_begins_lasts_and_ends():
    trouble, now = TROUBLES[0], START
    seen = Observation((trouble,))
    rows = noticed([], seen, ["ops", "chat"], now)
    first = due(rows, "ops", REPEAT, now)
    assert shown(first) == [("began", "a", "freshness")]
    kept, done = delivered(first, rows, now)
    assert done == []
    assert due(kept, "ops", REPEAT, now + REPEAT - timedelta(seconds=1)) == []
    assert shown(due(kept, "ops", REPEAT, now + REPEAT)) == [("stands", "a", "freshness")]
    other = [each for each in rows if each.hook == "chat"]
    ended = noticed([*kept, *other], Observation(()), ["ops", "chat"], now + REPEAT)
    assert shown(due(ended, "ops", REPEAT, now)) == [("ended", "a", "freshness")]
    assert shown(due(ended, "chat", REPEAT, now)) == [("over", "a", "freshness")], (
        "it was away all the time, and is told still"
    )
    kept, done = delivered(due(ended, "ops", REPEAT, now), ended, now)
    assert (kept, [each.hook for each in done]) == ([], ["ops"])


def test_what_was_not_looked_for_stands():
    rows = noticed([], Observation((TROUBLES[0],)), ["ops"], START)
    for blind in (("objective", "a"), ("objective", None)):
        assert noticed(rows, Observation((), frozenset({blind})), ["ops"], START) == rows
    (ended,) = noticed(rows, Observation((), frozenset({("objective", "b")})), ["ops"], START)
    assert ended.ended_at == START


def test_what_comes_back_begins_anew_as_its_end_may_have_been_told():
    rows = noticed([], Observation((TROUBLES[0],)), ["ops"], START)
    kept, _ = delivered(due(rows, "ops", REPEAT, START), rows, START)
    ended = noticed(kept, Observation(()), ["ops"], START)
    again = noticed(ended, Observation((TROUBLES[0],)), ["ops"], START)
    assert shown(due(again, "ops", REPEAT, START)) == [("began", "a", "freshness")]


def test_a_hook_that_the_registry_has_no_more_is_forgotten():
    rows = noticed([], Observation((TROUBLES[0],)), ["ops", "old"], START)
    assert Counter(each.hook for each in noticed(rows, Observation(()), ["ops"], START)) == {"ops": 1}


def test_the_store_keeps_what_was_told(tmp_path):
    place = str(tmp_path / "s.db")
    store = SnapshotStore.open(place, make=True)
    kept = AlertStore.open(store)
    rows = noticed([], Observation(tuple(TROUBLES)), ["ops"], START)
    told, _ = delivered(due(rows[:2], "ops", REPEAT, START), rows, START)
    kept.save([*rows[2:], *told])
    kept.save(told)
    SnapshotStore.anew(place)
    again = AlertStore.open(SnapshotStore.open(place))
    assert sorted(again.rows(), key=lambda each: each.trouble.key) == sorted(
        [*rows[2:], *told], key=lambda each: each.trouble.key
    ), "it outlives --rebuild"
    kept.save([], rows)
    assert kept.rows() == []


def test_one_process_tells_at_a_time(tmp_path):
    kept = AlertStore.open(SnapshotStore.open(str(tmp_path / "s.db"), make=True))
    minute = timedelta(minutes=1)
    assert kept.claim("one", START, minute)
    assert not kept.claim("two", START, minute)
    assert kept.claim("one", START, minute)
    assert kept.claim("two", START + minute, minute), "the first one was killed"
    kept.release("one")
    assert not kept.claim("three", START + minute, minute)
    kept.release("two")
    assert kept.claim("three", START + minute, minute)


def test_a_clock_that_was_ahead_silences_nobody(tmp_path):
    kept = AlertStore.open(SnapshotStore.open(str(tmp_path / "s.db"), make=True))
    ahead, minute = START + timedelta(days=365), timedelta(minutes=1)
    assert kept.claim("dead", ahead, minute)
    assert kept.claim("two", START, minute)
    rows = noticed([], Observation((TROUBLES[0],)), ["ops"], ahead)
    told, _ = delivered(due(rows, "ops", REPEAT, ahead), rows, ahead)
    again = due(told, "ops", REPEAT, START)
    assert shown(again) == [("stands", "a", "freshness")]
    told, _ = delivered(again, told, START)
    assert due(told, "ops", REPEAT, START) == []
    assert due(told, "ops", REPEAT, START - timedelta(seconds=30)) == [], "clocks of two watchers differ a little"
