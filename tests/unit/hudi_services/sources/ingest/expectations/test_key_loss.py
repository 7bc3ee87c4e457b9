"""Different rows and their keys, counted on splits of files."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hudi_services.sources.ingest.expectations.key_loss import KeyLoss, UniqueColumns, key_loss, unique_in_sample
from hudi_services.sources.ingest.load_plan import checked_splits, plan_load

ROWS = [
    {"id": "a", "part": "p", "ts": 1, "inside": {"v": [1, 2]}},
    {"id": "a", "part": "p", "ts": 1, "inside": {"v": [1, 3]}},
    {"id": "a", "part": "q", "ts": 2, "inside": {"v": [1, 2]}},
    {"id": "b", "part": "p", "ts": 3, "inside": {}},
]


@pytest.fixture
def counted(feed):
    def count(*options, **files):
        for name, rows in files.items():
            feed.land(f"{name}.json", rows)
        request = feed.request("json", options)
        planned = plan_load(request, feed.prepare("json", options), LocalEngine(2))
        splits = checked_splits(planned.batch, planned.rows, "s", LocalEngine(2))
        return key_loss(splits, planned.rows.plan, LocalEngine(2, memory_bytes=1)), unique_in_sample(splits, ("ts",))

    return count


def test_values_inside_of_structs_make_rows_different(counted):
    loss, unique = counted(one=[*ROWS, ROWS[0]])
    assert loss == KeyLoss(rows=4, keys=3, rows_in_files=4, keys_in_files=3, versions_in_files=3)
    assert unique == UniqueColumns((), ())


def test_a_partition_counts_unless_keys_are_global(counted):
    loss, _ = counted(("hoodie.index.type", "GLOBAL_SIMPLE"), one=ROWS)
    assert (loss.rows, loss.keys, loss.versions_in_files) == (4, 2, 3)


def test_rows_of_two_files_are_counted_in_each(counted):
    loss, unique = counted(one=ROWS[:1], two=[ROWS[0], ROWS[3]])
    assert loss == KeyLoss(rows=2, keys=2, rows_in_files=3, keys_in_files=3, versions_in_files=3)
    assert unique == UniqueColumns(("id", "ts"), ("id",)), "a row that is there twice counts once"
