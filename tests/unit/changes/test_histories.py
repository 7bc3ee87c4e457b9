"""Random histories: changes, applied in order to an empty table, give the table at every commit."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.changes import Follower, apply, counted
from tests.support.history import ACTIONS, CASES, FIRST, KEYS, MERGE_LOGS, REPLACING, History, Step

pytestmark = pytest.mark.histories

ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.integers(0, 99)), max_size=6).map(tuple)
STEPS = st.lists(
    st.builds(Step, st.sampled_from([*ACTIONS, MERGE_LOGS, *REPLACING]), ROWS, st.none() | st.integers(3, 60)),
    min_size=3,
    max_size=8,
)


@pytest.mark.parametrize(("kind", "version", "mode"), [each for each in CASES if each[2].startswith("EVENT")])
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]), virtual=st.sampled_from([None, None, "start", "later"])
)
def test_a_follower_has_the_table_after_every_step(kind, version, mode, steps, limit, virtual):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, mode, small_file_limit=limit, virtual=virtual)
        follower = Follower(history.table)
        for step in [FIRST, *steps]:
            history.run(step)
            follower.follow()
            follower.check()


@pytest.mark.parametrize(("kind", "version", "mode"), [each for each in CASES if each[2].startswith("COMMIT")])
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_a_long_range_tells_what_its_parts_tell(kind, version, mode, steps, limit):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, mode, small_file_limit=limit)
        follower, parts = Follower(history.table), []
        for step in [FIRST, *(step for step in steps if step.action != "clean")]:
            history.run(step)
            parts.extend(follower.follow().to_pylist())
        table = history.table
        assert table.read_changes().to_pylist() == parts
        assert table.stream_changes().read_all().to_pylist() == parts
        net = table.read_changes(net=True)
        assert net.num_rows == table.read().num_rows
        rows = counted(table.read().slice(0, 0))
        apply(rows, net.to_pylist())
        assert rows == counted(table.read())
