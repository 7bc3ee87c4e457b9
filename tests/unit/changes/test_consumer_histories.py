"""Random histories with a slow consumer, greedy cleans and archivals, and kills: every change exactly once."""

from __future__ import annotations

import tempfile
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError
from tests.support.changes import apply, counted
from tests.support.examples import examples
from tests.support.faulty import FaultyStorage, Killed
from tests.support.history import ACTIONS, AT_COMMIT, CASES, FIRST, KEYS, MERGE_LOGS, REPLACING, History, Step
from tests.support.matrix import sample

pytestmark = pytest.mark.histories

ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.integers(0, 99)), max_size=6).map(tuple)
WRITES = st.sampled_from([*(each for each in ACTIONS if each != "clean"), MERGE_LOGS, *REPLACING])
CLEANS = [
    {"hoodie.clean.commits.retained": 1},
    {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1},
    {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 1},
]
ARCHIVAL = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
STEPS = st.lists(
    st.one_of(
        st.builds(Step, WRITES, ROWS, st.sampled_from([None, None, None, AT_COMMIT])),
        st.sampled_from(CLEANS),
        st.just(ARCHIVAL),
        st.tuples(st.none() | st.integers(1, 12), st.none() | st.integers(1, 2)),
    ),
    min_size=5,
    max_size=14,
)


class Program:
    """It stores the position with its results in a database of its own."""

    def __init__(self, table):
        self.table, self.rows, self.position = table, Counter(), None

    def run(self, dies, limit):
        """One run, whose process dies at that call of the storage."""
        table = self.table
        storage = FaultyStorage(table.base_path, dies) if dies is not None else table.storage
        consumer = HoodieTable(storage, LocalEngine(1), table.clock).consumer("Slow one")
        try:
            if self.position not in (None, consumer.position):
                consumer.commit(self.position)
            changes = consumer.read(limit=limit).to_pylist()
            apply(self.rows, changes)
            self.position = consumer.next_position
            consumer.commit()
        except (Killed, PendingInstantError):
            return


@pytest.mark.parametrize(
    ("kind", "version", "mode"), sample([each for each in CASES if each[2].startswith("EVENT")], 0, 5)
)
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_every_change_once_beside_cleans_and_archivals(kind, version, mode, steps, limit):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, mode, small_file_limit=limit)
        program = Program(history.table)
        history.run(FIRST)
        history.table.consumer("Slow one").reset("earliest")
        for step in steps:
            if isinstance(step, Step):
                history.run(step)
            elif isinstance(step, tuple):
                program.run(*step)
            else:
                history.table.clock.sleep(3600 * 2)
                history.table.run(ARCHIVE if step is ARCHIVAL else CLEAN, step)
        history.run(FIRST)  # takes back what a killed write has left
        program.run(None, None)
        assert program.rows == counted(history.table.read())
        history.check()
