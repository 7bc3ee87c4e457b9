"""New rows go to small files that may grow, and updates to the log of their slice or into its base file."""

from __future__ import annotations

from collections import Counter
from itertools import count
from types import SimpleNamespace

import pytest

from hoodie.errors import PendingInstantError
from hoodie.index.buckets import bucket_of
from hoodie.model.files import FileSlice, SourceRows
from hoodie.timeline import Action
from hoodie.write.placement import Placement, new_file_id
from hoodie.write.worker.stages import WorkloadProfile
from tests.support.made_states import base_file, done, log_file, pending, state_of, wrote
from tests.support.tables import batch, create

SLICE = FileSlice("p", "f", "10", base_file("10"))
PLANNED = pending("15", Action.CLUSTERING)


@pytest.fixture
def assign(tmp_path):
    """-> the files of a write: (its id or "new", the time of its log, "rewritten", or None for a new file)."""

    numbers = count()

    def made(slices, updates=(), inserts=(), *, operation="upsert", version="9", kind="MERGE_ON_READ", **busy):
        options = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
        table = create(tmp_path / str(next(numbers)), **options)
        plan = table.plan_write(batch([]).schema, operation)
        state = table.state() if kind == "COPY_ON_WRITE" else state_of(version, {done("10", "11"): wrote()})
        held = SimpleNamespace(**{"clustering": {}, "compacting": {}, **busy})
        profile = WorkloadProfile(Counter(dict(updates)), Counter(dict(inserts)))
        assignment = Placement(state, plan, "20", held).assign(profile, slices, 0)
        return [
            (
                task.file_id if task.slice else "new",
                None if task.slice is None else task.log.time if task.log else "rewritten",
            )
            for task in assignment.tasks
        ]

    return made


def test_new_rows_fill_a_small_file(assign):
    assert assign([SLICE], inserts={"p": 1}) == [("f", "rewritten")]
    assert assign([SLICE], inserts={"q": 1}) == [("new", None)]
    assert assign([SLICE], inserts={"p": 1}, operation="bulk_insert") == [("new", None)]


@pytest.mark.parametrize(
    "slices",
    [
        FileSlice("p", "f", "10", base_file("10"), (log_file("10"),)),
        FileSlice("p", "f", "10", None, (log_file("10"),)),
        FileSlice(
            "p", "f", "10", type(SLICE.base_file)("p", "f", "10", SLICE.base_file.info, SourceRows("s3://x/y", 1, 0))
        ),
    ],
    ids=["with a log", "logs alone", "skeleton"],
)
def test_a_slice_that_is_more_than_a_base_file_does_not_grow(assign, slices):
    assert assign([slices], inserts={"p": 1}) == [("new", None)]


@pytest.mark.parametrize("service", ["clustering", "compacting"])
def test_a_group_that_a_service_waits_for_does_not_grow(assign, service):
    assert assign([SLICE], inserts={"p": 1}, **{service: {SLICE.group: PLANNED}}) == [("new", None)]


def test_updates_of_a_group_that_waits_for_clustering_are_refused(assign):
    with pytest.raises(PendingInstantError, match=r"File group f of partition 'p' waits for clustering.*--give-up 15"):
        assign([SLICE], updates={0: 1}, clustering={SLICE.group: PLANNED})


@pytest.mark.parametrize(
    ("version", "kind", "compacting", "place"),
    [
        ("9", "COPY_ON_WRITE", None, "rewritten"),
        ("9", "MERGE_ON_READ", None, "20"),
        ("9", "MERGE_ON_READ", "15", "20"),
        ("6", "MERGE_ON_READ", None, "10"),
        ("6", "MERGE_ON_READ", "15", "15"),
    ],
)
def test_the_log_of_updates_has_the_time_of_the_write_or_of_its_slice(assign, version, kind, compacting, place):
    busy = {"compacting": {SLICE.group: pending(compacting, Action.COMPACTION)}} if compacting else {}
    assert assign([SLICE], updates={0: 1}, version=version, kind=kind, **busy) == [("f", place)]


def test_no_new_file_id_is_that_of_a_bucket(monkeypatch):
    ids = iter(["00000037-0000-4000-8000-000000000000", "10000037-0000-4000-8000-000000000000"])
    monkeypatch.setattr("hoodie.write.placement.uuid.uuid4", lambda: next(ids))
    assert bucket_of(new_file_id()) is None
