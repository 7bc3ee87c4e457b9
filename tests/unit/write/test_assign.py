"""The files that a write touches: the plan alone."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from hoodie.model.commit import CommitMetadata, WriteStat
from hoodie.model.files import BaseFile, FileSlice
from hoodie.model.names import LogFileName
from hoodie.storage.base import FileInfo
from hoodie.write.assign import SizingOptions, assign, average_record_bytes

SIZING = SizingOptions(max_file_bytes=1000, small_file_bytes=500, record_bytes=10, small_files=1)


def file_slice(name, size, partition="p"):
    base = BaseFile(partition, name, "001", FileInfo(f"{partition}/{name}.parquet", size, 0))
    return FileSlice(partition, name, "001", base)


def no_more(number):
    raise AssertionError("the file group is not there")


def plan(updates, inserts, slices, logged, sizing=SIZING, grows=lambda _: False):
    names = (f"new-{number}" for number in count())
    log_name = (lambda s: LogFileName(s.file_id, "002", 1, "0-0-0")) if logged else None
    return assign(updates, inserts, slices, grows, 10, sizing, lambda: next(names), no_more, log_name)


@pytest.mark.parametrize(
    ("logged", "limit", "rewritten"),
    [(False, 1, {"a", "b", "c"}), (True, 1, {"a"}), (True, 2, {"a", "b"}), (True, 0, set())],
)
def test_inserts_write_few_small_files_anew_where_updates_can_be_logged(logged, limit, rewritten):
    slices = [file_slice("c", 400), file_slice("a", 100), file_slice("b", 200)]
    sizing = SizingOptions(1000, 500, 10, small_files=limit)
    assignment = plan({0: 5, 1: 5, 2: 5}, {"p": 240}, slices, logged, sizing)
    assert {task.file_id for task in assignment.tasks if task.slice and task.log is None} == rewritten
    logs = {task.file_id for task in assignment.tasks if task.log}
    assert logs == ({"a", "b", "c"} - rewritten if logged else set())


@pytest.mark.parametrize("logged", [False, True])
def test_every_row_finds_a_file_that_has_room(logged):
    slices = [file_slice("small", 100), file_slice("full", 900), file_slice("other", 100, "q")]
    assignment = plan({}, {"p": 500}, slices, logged)
    hashes = np.arange(0, 1 << 32, 1 << 20, dtype=np.uint32)
    tasks, rows = np.unique(assignment.insert_tasks("p", hashes), return_counts=True)
    # 90 rows into the small file, the other 410 into files of 100 at most
    assert [assignment.tasks[number].file_id for number in tasks] == ["small", *[f"new-{n}" for n in range(5)]]
    assert np.allclose(rows / len(hashes) * 500, [90, 82, 82, 82, 82, 82], atol=1)


def test_a_slice_that_must_not_grow_gets_no_inserts():
    slices = [file_slice("small", 100)]
    assignment = plan({0: 1}, {"p": 10}, slices, logged=False, grows=lambda _: True)
    assert [task.file_id for task in assignment.tasks] == ["small", "new-0"]
    assert assignment.insert_tasks("p", np.array([0, 1 << 31], dtype=np.uint32)).tolist() == [1, 1]


def test_tasks_of_large_rows_are_not_small():
    """Updates to logs of rows that are far larger than older records were: no worker may be dealt many of them at once."""

    def sizes(input_row_bytes):
        name = LogFileName("a", "002", 1, "0-0-0")
        new = iter(())
        slices = [file_slice("a", 100)]
        return assign(
            {0: 7}, {}, slices, lambda _: False, 10, SIZING, new.__next__, no_more, lambda _: name, input_row_bytes
        ).sizes

    assert sizes(0) == (70,), "as large as older records"
    assert sizes(3) == (70,)
    assert sizes(1000) == (7000,)


@pytest.mark.parametrize(
    ("commits", "record"),
    [
        ([(1000, 50), (1000, 25)], 20),  # the newest
        ([(500, 1), (0, 0), (1000, 25)], 40),  # not those that wrote a small file, or none
        ([(500, 1)], 10),
        ([(1000, 1000)], 8),
        ([(1 << 30, 1)], 1 << 20),
    ],
)
def test_records_are_as_large_as_those_of_the_newest_commit_that_wrote_much(commits, record):
    bodies = [
        CommitMetadata("INSERT", (WriteStat("f", "p/f", "p", num_writes=rows, file_size=size),))
        for size, rows in commits
    ]
    assert average_record_bytes(bodies, SIZING) == record
