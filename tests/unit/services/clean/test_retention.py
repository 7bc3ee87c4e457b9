"""The choice of superseded slices."""

from __future__ import annotations

from hoodie.model.files import BaseFile, FileGroup, FileSlice
from hoodie.services.clean.retention import KEEP_COMMITS, KEEP_VERSIONS, planned_files, superseded
from hoodie.storage.base import FileInfo
from tests.support.made_states import base_file, log_file


def of(*bases):
    """A file group of base files, the newest first: token and time."""
    made = [BaseFile("p", "f", time, FileInfo(f"p/f_{token}_{time}.parquet", 1, 0)) for token, time in bases]
    return FileGroup("p", "f", tuple(FileSlice("p", "f", base.instant, base) for base in made))


def test_neither_of_two_files_of_one_instant_supersedes_the_other():
    """Without the archive it is not known which of them a lost attempt has left."""
    group, older = of(("2", "20250101000000002"), ("1", "20250101000000002")), ("0", "20250101000000001")
    for policy in (KEEP_COMMITS, KEEP_VERSIONS):
        assert list(superseded([group], {}, policy, "20250101000000009", 1, None)) == []
        more = of(("2", "20250101000000002"), ("1", "20250101000000002"), older)
        gone = [each.base_instant for each, _ in superseded([more], {}, policy, "20250101000000009", 1, None)]
        assert gone == [older[1]]


def test_a_slice_whose_base_file_a_savepoint_holds_keeps_its_logs():
    base, other = base_file("10"), base_file("10", "g")
    slices = [
        (FileSlice(each.partition, each.file_id, "10", each, (log_file("10", each.file_id),)), "old")
        for each in (base, other)
    ]
    assert [file.path for file in planned_files(slices, (), {base.path})] == [other.path, log_file("10", "g").path]
    assert [file.path for file in planned_files(slices[:1], (), {log_file("10").path})] == [base.path]
