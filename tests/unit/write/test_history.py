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
STEPS = st.lists(st.tuples(st.sampled_from(["upsert", "delete", "clean"]), ROWS), min_size=1, max_size=7)


@dataclass
class Model:
    """What Hudi's rules make of a history (proven against Hudi itself by tests/interop).

    Of a copy-on-write table only `base` is used; of a merge-on-read one `logs` holds key -> (ordering, value), None for deleted.
    A row in the logs is held against the base's row as if nothing had been deleted in between.
    """

    event_time: bool
    version: str
    logged: bool
    base: dict = field(default_factory=dict)
    logs: dict = field(default_factory=dict)

    def write(self, operation, rows):
        best = {}
        for key, ts, value in rows:
            by_ordering = self.event_time or self.version == "6"
            if key not in best or not by_ordering or ts >= best[key][0]:
                best[key] = (ts, value)
        for key, row in best.items():
            if operation == "delete":
                self._delete(key)
            else:
                self._upsert(key, row)

    def _delete(self, key):
        if not self.logged:
            self.base.pop(key, None)
        elif key in self.base:
            self.logs[key] = None

    def _upsert(self, key, row):
        place = self.logs if self.logged and key in self.base else self.base
        known = place.get(key)
        if known is None or not self.event_time or row[0] >= known[0]:
            place[key] = row

    def content(self):
        """id -> (part, ts, value)"""
        rows = dict(self.base)
        for key, row in self.logs.items():
            if row is None:
                del rows[key]
            elif not self.event_time or row[0] >= self.base[key][0]:
                rows[key] = row
        return {key: (PARTS[key], *row) for key, row in rows.items()}


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
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
            if operation == "clean":
                if model.logged:
                    continue
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
