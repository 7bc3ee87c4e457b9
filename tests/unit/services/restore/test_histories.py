"""Random histories of writes, services, savepoints, restores and rollbacks: the table is what a list of its versions says."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, COMPACTION, Restore, Rollback, Undelete
from hoodie.errors import RollbackError, SavepointError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.histories

LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
KEYS = {"a": "p", "b": "p", "c": "q"}
STEPS = st.lists(
    st.sampled_from([*(f"upsert {key}" for key in KEYS), *(f"delete {key}" for key in KEYS)])
    | st.sampled_from(["savepoint", "restore", "rollback", "clean", "aside", "undelete", "compact", "forget"]),
    min_size=3,
    max_size=8,
)


class History:
    """The table, and beside it each version of it that can come back, by the commit that made it."""

    def __init__(self, path, version, table_type):
        shutil.rmtree(path, ignore_errors=True)
        options = {"hoodie.write.table.version": version, "hoodie.table.type": table_type}
        self.table = create(path, FakeClock(), **options)
        self.rows = {}
        self.versions = []
        self.saved = {}
        self.number = 0

    def step(self, step):
        verb, _, key = step.partition(" ")
        getattr(self, verb)(*([key] if key else []))
        assert content(self.table) == self.rows, step
        assert {each.instant for each in self.table.savepoints()} == set(self.saved), step

    def _committed(self):
        self.versions.append((self.table.timeline.commits[-1].time, dict(self.rows)))

    def upsert(self, key):
        self.number += 1
        self.table.write(batch([(key, KEYS[key], self.number, self.number)]), "upsert", LOGS)
        self.rows = {**self.rows, key: (KEYS[key], self.number, self.number)}
        self._committed()

    def delete(self, key):
        if key in self.rows:
            self.number += 1
            self.table.write(batch([(key, KEYS[key], self.number, self.number)]), "delete", LOGS)
            self.rows = {name: row for name, row in self.rows.items() if name != key}
            self._committed()

    def compact(self):
        if self.table.properties.is_merge_on_read and self.table.schedule(COMPACTION, force=True):
            self.table.run(COMPACTION, SMALL_BLOOM)

    def clean(self):
        self.table.run(CLEAN, {"hoodie.clean.commits.retained": 1})

    def aside(self):
        self.table.run(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.delete.grace.hours": 1})

    def undelete(self):
        self.table.run(Undelete())

    def savepoint(self):
        last = self.table.timeline.last_commit
        if last is not None and last.time not in self.saved:
            self.table.savepoint(last.time)
            self.saved[last.time] = dict(self.rows)

    def forget(self):
        if self.saved:
            self.table.delete_savepoint(max(self.saved))
            del self.saved[max(self.saved)]

    def restore(self):
        if not self.saved:
            return
        last = max(self.saved)
        first = min(self.saved)
        if first != last:
            with pytest.raises(SavepointError):
                self.table.run(Restore(first))
        self.table.run(Restore(last))
        self.rows = dict(self.saved[last])
        self.versions = [version for version in self.versions if version[0] <= last]

    def rollback(self):
        last = self.table.timeline.last_commit
        if last is None:
            return
        try:
            self.table.run(Rollback(last.time))
        except RollbackError:
            return
        if self.versions and self.versions[-1][0] == last.time:
            self.versions.pop()
            self.rows = dict(self.versions[-1][1]) if self.versions else {}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["9", "6"])
@given(steps=STEPS)
@example(steps=["upsert a", "savepoint", "upsert a", "clean", "compact", "delete a", "restore", "upsert b", "rollback"])
@example(
    steps=["upsert a", "upsert a", "savepoint", "upsert a", "upsert a", "aside", "restore", "undelete", "upsert a"]
)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_table_is_what_its_history_says(tmp_path, version, table_type, steps):
    history = History(tmp_path / "t", version, table_type)
    for step in steps:
        history.step(step)
