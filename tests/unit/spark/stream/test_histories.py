"""Random histories read by queries that die at calls of the storage: every change and every row once, without Spark's session."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hoodie import ARCHIVE, HoodieTable
from tests.support.changes import apply, counted
from tests.support.examples import examples
from tests.support.faulty import FaultyStorage, Killed
from tests.support.history import ACTIONS, AT_COMMIT, FIRST, KEYS, MERGE_LOGS, REPLACING, History, Step
from tests.support.streams import Checkpoint, FaultyReader
from tests.support.tables import content

pytestmark = pytest.mark.histories

ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.integers(0, 99)), max_size=6).map(tuple)
WRITES = st.sampled_from([*(each for each in ACTIONS if each != "clean"), MERGE_LOGS, *REPLACING])
ARCHIVAL = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
LIMITS = ({}, {"maxcommitspertrigger": "1"}, {"maxcommitspertrigger": "3"}, {"maxbytespertrigger": "1"})
RUN = st.tuples(st.none() | st.integers(1, 40), st.booleans())
STEPS = st.lists(
    st.one_of(
        st.builds(Step, WRITES, ROWS, st.sampled_from([None, None, None, AT_COMMIT])), st.just(ARCHIVAL), RUN, RUN
    ),
    min_size=5,
    max_size=12,
)


@dataclass
class Query:
    """A query with its checkpoint. The target takes each batch once, by its number."""

    table: HoodieTable
    options: dict
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    target: list = field(default_factory=list)

    def run(self, dies=None, available=False):
        """A run of the query, whose process dies at that call, to the end of what there is."""
        storage = FaultyStorage(self.table.base_path, dies) if dies is not None else self.table.storage
        try:
            self._run(storage, available)
        except Killed:
            return

    def _run(self, storage, available):
        reader = FaultyReader(storage, self.options)
        if available:
            reader.prepareForTriggerAvailableNow()

        def deliver(number, batches):
            if len(self.target) == number:
                self.target.append(pa.Table.from_batches(batches).to_pylist() if batches else [])
            reader.reportLatestOffset()  # dies here, too

        self.checkpoint.run(reader, deliver)


def _in_order(change):
    return change["_hoodie_completion_time"], change["op"] != "d"


@pytest.mark.parametrize(("kind", "version"), [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")])
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from(LIMITS), small=st.sampled_from([0, 100 * 1024 * 1024]))
def test_every_change_and_row_once(kind, version, steps, limit, small):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, version, "EVENT_TIME_ORDERING", small_file_limit=small)
        table = history.table
        history.run(FIRST)
        changes = Query(table, {"hoodie.datasource.query.incremental.format": "cdc", **limit})
        rows = Query(table, {"hoodie.datasource.query.incremental.format": "latest_state", **limit})
        for step in steps:
            if isinstance(step, Step):
                history.run(step)
            elif isinstance(step, dict):
                table.run(ARCHIVE, step)
            else:
                for query in (changes, rows):
                    query.run(*step)
        history.run(FIRST)  # takes back what a killed write has left
        applied, latest = Counter(), {}
        for query in (changes, rows):
            query.run()
        for batch in changes.target:
            apply(applied, sorted(batch, key=_in_order))
        assert applied == counted(table.read())
        for batch in rows.target:
            latest |= {row["id"]: (row["part"], row["ts"], row["value"]) for row in batch}
        assert {key: latest.get(key) for key in content(table)} == content(table)
