"""Random histories: changes, applied in order to an empty table, give the table at every commit."""

from __future__ import annotations

import tempfile
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hoodie.config.properties.table import CDC_MODES
from hoodie.formats.log import scan_blocks
from hoodie.formats.log.rows import read_rows
from tests.support.changes import Follower, apply, counted
from tests.support.examples import examples
from tests.support.history import ACTIONS, CASES, FIRST, KEYS, MERGE_LOGS, REPLACING, History, Step
from tests.support.matrix import sample

pytestmark = pytest.mark.histories

ROWS = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.integers(0, 99)), max_size=6).map(tuple)
STEPS = st.lists(
    st.builds(Step, st.sampled_from([*ACTIONS, MERGE_LOGS, *REPLACING]), ROWS, st.none() | st.integers(3, 60)),
    min_size=3,
    max_size=8,
)


@pytest.mark.parametrize(
    ("kind", "version", "mode"), sample([each for each in CASES if each[2].startswith("EVENT")], 0, 5)
)
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, limit=st.sampled_from([0, 100 * 1024 * 1024]), cdc=st.sampled_from(CDC_MODES))
def test_logs_of_changes_say_what_the_slices_say(kind, steps, limit, cdc):
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder + "/t", kind, "9", "EVENT_TIME_ORDERING", small_file_limit=limit, cdc=cdc)
        follower, changes = Follower(history.table), []
        for step in [FIRST, *steps]:
            history.run(step)
            changes += follower.follow().to_pylist()
            follower.check()
            assert logged(history.table) <= Counter(
                f"{c['_hoodie_commit_time']} {c['op']} {c['_hoodie_record_key']}" for c in changes
            )


def logged(table):
    """The changes in logs, each as commit, operation and key; those of a rewritten base file are all there."""
    state, found = table.state(), Counter()
    paths = {file.path: file for each in state.files.all() for file in each.log_files if file.is_cdc}
    for instant in state.timeline.commits:
        for stat in state.commit_metadata(instant).stats:
            rows = [row for path in stat.cdc_stats or () if path in paths for row in rows_of(table, path)]
            found.update(f"{instant.time} {row['op']} {key_of(row)}" for row in rows)
            if stat.log is None and stat.prev_commit != "null" and not state.commit_metadata(instant).moves_rows:
                assert stat.cdc_stats, "a rewritten base file has a log"
                gone = not paths.keys() & stat.cdc_stats.keys()
                assert gone or [row["op"] for row in rows].count("i") == stat.num_inserts
                assert gone or [row["op"] for row in rows].count("d") == stat.num_deletes
    return found


def rows_of(table, path):
    blocks = scan_blocks(table.storage, path)
    return [row for block in blocks for rows in read_rows(table.storage, block) for row in rows.to_pylist()]


def key_of(row):
    return row.get("record_key") or (row["before"] or row["after"])["id"]


@pytest.mark.parametrize(
    ("kind", "version", "mode"), sample([each for each in CASES if each[2].startswith("COMMIT")], 2, 3)
)
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
