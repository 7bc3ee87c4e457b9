"""Random histories against a dict as the model: every state, as of every commit, on versions 6 and 9."""

from __future__ import annotations

import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

KEYS = st.sampled_from([f"k{i}" for i in range(8)])
PARTS = {f"k{i}": "pqr"[i % 3] for i in range(8)}
ROWS = st.lists(st.tuples(KEYS, st.integers(0, 5), st.integers(0, 99)), max_size=6)
STEPS = st.lists(st.tuples(st.sampled_from(["upsert", "delete", "clean"]), ROWS), min_size=1, max_size=7)


def apply(model, operation, rows, event_time, version):
    """What Hudi's rules make of a batch (proven against Hudi itself by tests/interop/test_semantics.py)."""
    best = {}
    for key, ts, value in rows:
        by_ordering = event_time or version == "6"
        if key not in best or not by_ordering or ts >= best[key][0]:
            best[key] = (ts, value)
    for key, (ts, value) in best.items():
        if operation == "delete":
            model.pop(key, None)
        elif key not in model or not event_time or ts >= model[key][1]:
            model[key] = (PARTS[key], ts, value)


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]))
def test_history(version, mode, steps, limit):
    folder = tempfile.mkdtemp()
    try:
        options = {"hoodie.write.table.version": version, "hoodie.record.merge.mode": mode}
        table = create(folder + "/t", FakeClock(), **options)
        model, past = {}, {}
        for operation, rows in steps:
            if operation == "clean":
                table.clean({"hoodie.clean.commits.retained": 2})
                retained = [instant.time for instant in table.timeline.commits][-2:]
                past = {time: state for time, state in past.items() if time in retained}
            else:
                data = batch([(key, PARTS[key], ts, value) for key, ts, value in rows])
                result = table.write(data, operation, {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": limit})
                apply(model, operation, rows, mode.startswith("EVENT"), version)
                past[result.instant.time] = dict(model)
            assert content(table) == model
        for time, state in past.items():
            assert content(table, as_of=time) == state
    finally:
        shutil.rmtree(folder)
