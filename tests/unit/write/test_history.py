"""Random histories against a dict as the model: every state, as of every commit, in every version; steps may be killed."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.history import ACTIONS, CASES, FIRST, KEYS, MERGE_LOGS, REPLACING, History, Step
from tests.support.matrix import diagonal

pytestmark = pytest.mark.histories

ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.integers(0, 99)), max_size=6).map(tuple)
DIES = st.none() | st.none() | st.integers(3, 60)  # calls of the storage: fewer than most steps make, more than some do
STEPS = st.lists(
    st.builds(Step, st.sampled_from([*ACTIONS, MERGE_LOGS, *REPLACING]), ROWS, DIES), min_size=3, max_size=8
)


@pytest.mark.format("11k", "11l")
@pytest.mark.parametrize(("kind", "version", "mode"), CASES)
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_history(kind, version, mode, steps, limit):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, mode, small_file_limit=limit)
        for step in [FIRST, *steps]:
            history.run(step)
            history.check()
        history.check_past()


@pytest.mark.parametrize(
    ("virtual", "kind", "version"),
    diagonal(["start", "later"], [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")]),
)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_history_with_virtual_keys(kind, version, virtual, steps, limit):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, "EVENT_TIME_ORDERING", small_file_limit=limit, virtual=virtual)
        for step in [FIRST, *steps]:
            history.run(step)
            history.check()
        history.check_past()
