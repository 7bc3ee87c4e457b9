"""Random histories against a dict as the model: every state, as of every commit, on versions 6 and 9."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

KEYS = st.sampled_from([f"k{i}" for i in range(8)])
PARTS = {f"k{i}": "pqr"[i % 3] for i in range(8)}
ROWS = st.lists(st.tuples(KEYS, st.integers(0, 5), st.integers(0, 99)), max_size=6)
ACTIONS = st.sampled_from(["upsert", "upsert", "delete", "clean", "schedule", "schedule logs", "compact"])
STEPS = st.lists(st.tuples(ACTIONS, ROWS), min_size=1, max_size=10)


MERGE_LOGS = {"hoodie.log.compaction.blocks.threshold": 2}


@dataclass
class Model:
    """What Hudi's rules make of a history (proven against Hudi itself by tests/interop).

    Of a copy-on-write table only `base` is used. Of a merge-on-read one `logs` holds the entries of each key since its base
    row was written, (ordering, value) or None for a deletion. What they add up to is held against the base row as if nothing
    had been deleted in between. New keys of one write and partition share a file group.
    """

    event_time: bool
    version: str
    logged: bool
    base: dict = field(default_factory=dict)
    logs: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)
    plans: dict = field(default_factory=dict)  # instant of a waiting compaction -> group -> key -> entries it takes
    writes: int = 0

    def write(self, operation, rows):
        self.writes += 1
        best = {}
        for key, ts, value in rows:
            by_ordering = self.event_time or self.version == "6"
            if key not in best or not by_ordering or ts >= best[key][0]:
                best[key] = (ts, value)
        for key, row in best.items():
            self._apply(key, None if operation == "delete" else row)

    def _apply(self, key, row):
        if self.logged and key in self.base:
            self.logs.setdefault(key, []).append(row)
        elif row is None:
            self.base.pop(key, None)
        elif key not in self.base or not self.event_time or row[0] >= self.base[key][0]:
            self.base[key] = row
            self.groups[key] = (self.writes, PARTS[key])

    def schedule(self, time):
        """Takes the groups that have logs and are in no plan yet."""
        taken = {group for plan in self.plans.values() for group in plan}
        plan = {}
        for key, entries in self.logs.items():
            if entries and self.groups[key] not in taken:
                plan.setdefault(self.groups[key], {})[key] = len(entries)
        assert (time is None) == (not plan)
        if plan:
            self.plans[time] = plan

    def compact(self, time):
        for keys in self.plans.pop(time).values():
            for key, count in keys.items():
                row = self._merged(key, self.logs[key][:count])
                self.logs[key] = self.logs[key][count:]
                if row is None and not self.logs[key]:
                    del self.base[key]
                else:  # None: entries that came after the plan are all that is left of the key
                    self.base[key] = row

    def _folded(self, entries):
        known = None
        for row in entries:
            if row is None or known is None or not self.event_time or row[0] >= known[0]:
                known = row
        return known

    def _merged(self, key, entries):
        row, stored = self._folded(entries), self.base[key]
        if not entries or (stored and row and self.event_time and row[0] < stored[0]):
            return stored
        return row

    def content(self):
        """id -> (part, ts, value)"""
        rows = {key: self._merged(key, self.logs.get(key, [])) for key in self.base}
        return {key: (PARTS[key], *row) for key, row in rows.items() if row is not None}


@pytest.mark.parametrize(
    ("kind", "version", "mode"),
    [
        ("COPY_ON_WRITE", "9", "EVENT_TIME_ORDERING"),
        ("COPY_ON_WRITE", "9", "COMMIT_TIME_ORDERING"),
        ("COPY_ON_WRITE", "6", "EVENT_TIME_ORDERING"),
        ("COPY_ON_WRITE", "6", "COMMIT_TIME_ORDERING"),
        ("MERGE_ON_READ", "9", "EVENT_TIME_ORDERING"),
        ("MERGE_ON_READ", "9", "COMMIT_TIME_ORDERING"),
        # In version 6 COMMIT_TIME_ORDERING compares ordering values among log records only: tests/interop has that.
        ("MERGE_ON_READ", "6", "EVENT_TIME_ORDERING"),
    ],
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_history(kind, version, mode, steps, limit):
    folder = tempfile.mkdtemp()
    try:
        options = {
            "hoodie.table.type": kind,
            "hoodie.write.table.version": version,
            "hoodie.record.merge.mode": mode,
        }
        table = create(folder + "/t", FakeClock(), **options)
        model, past = Model(mode.startswith("EVENT"), version, kind == "MERGE_ON_READ"), {}
        small_files = {"hoodie.parquet.small.file.limit": 0 if model.logged else limit}
        for operation, rows in steps:
            if operation in ("schedule", "schedule logs", "compact") and not model.logged:
                continue
            if operation == "schedule":
                model.schedule(table.schedule_compaction(force=True))
            elif operation == "schedule logs":  # changes nothing that can be read, now or of the past
                if version == "6":
                    continue
                table.schedule_log_compaction(MERGE_LOGS)
            elif operation == "compact":
                for result in table.compact():
                    if result.metadata.operation == "LOG_COMPACT":
                        past[result.instant.time] = content(table, as_of=result.instant.time)
                        continue
                    model.compact(result.instant.time)
                    # What came after the plan is now held against the new base file, also by a reader of the past.
                    past = {time: state for time, state in past.items() if time < result.instant.time}
            elif operation == "clean":
                table.clean({"hoodie.clean.commits.retained": 2})
                retained = [instant.time for instant in table.timeline.commits][-2:]
                past = {time: state for time, state in past.items() if time in retained}
            else:
                data = batch([(key, PARTS[key], ts, value) for key, ts, value in rows])
                result = table.write(data, operation, {**SMALL_BLOOM, **small_files})
                model.write(operation, rows)
                past[result.instant.time] = model.content()
            assert content(table) == model.content()
        for time, state in past.items():
            assert content(table, as_of=time) == state
    finally:
        shutil.rmtree(folder)
