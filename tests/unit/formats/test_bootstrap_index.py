"""The bootstrap index is read as it was written; what is damaged is refused."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError
from hoodie.formats.bootstrap_index import (
    PARTITIONS_PATH,
    BootstrapFile,
    BootstrapIndex,
    SourceFile,
    read_bootstrap_files,
    read_bootstrap_index,
    write_bootstrap_index,
)
from hoodie.formats.hfile import HFileWriter
from hoodie.model.files import GroupId
from hoodie.storage import LocalStorage

TIMES = st.integers(0, 1 << 45)
SOURCES = st.builds(SourceFile, st.text(min_size=1, max_size=9), st.integers(0, 1 << 50), TIMES, TIMES)
FILES = st.builds(
    BootstrapFile, st.sampled_from(["", "part=p1", "p/2", "ü"]), st.text("ab", max_size=3), st.text(), SOURCES
)
ONE_FILE = BootstrapFile("p", "id", "source/p", SourceFile("file:/source/p/a.parquet", 10, 1))


def same_partition_same_source(files):
    """A partition of the table has one partition of the source."""
    first = {file.partition: file.source_partition for file in files}
    return tuple(replace(file, source_partition=first[file.partition]) for file in files)


INDEXES = st.builds(
    BootstrapIndex,
    st.text(),
    TIMES,
    st.lists(FILES, min_size=1, unique_by=lambda file: file.group)
    .map(lambda files: sorted(files, key=lambda file: file.group))
    .map(same_partition_same_source),
)


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return LocalStorage(str(tmp_path_factory.mktemp("table")))


@given(index=INDEXES)
def test_round_trip(storage, index) -> None:
    storage.delete_folder(".hoodie")
    write_bootstrap_index(storage, index)
    assert read_bootstrap_index(storage) == index
    partition = index.files[0].partition
    of_partition = tuple(file for file in index.files if file.partition == partition)
    assert read_bootstrap_index(storage, [partition, "none"]) == replace(index, files=of_partition)
    names = {file.group: file for file in index.files[::2]}
    assert read_bootstrap_files(storage, [*names, GroupId("none", "id")]) == names


def test_an_index_is_not_overwritten(storage) -> None:
    storage.delete_folder(".hoodie")
    write_bootstrap_index(storage, BootstrapIndex("/source", 1, (ONE_FILE,)))
    with pytest.raises(FileExistsError):
        write_bootstrap_index(storage, BootstrapIndex("/source", 1, (ONE_FILE,)))


def test_a_table_without_an_index(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bootstrap_index(LocalStorage(str(tmp_path)))
    with pytest.raises(ValueError, match="needs files"):
        write_bootstrap_index(LocalStorage(str(tmp_path)), BootstrapIndex("/source", 1, ()))


@pytest.mark.parametrize(("info", "found"), [({}, "no INDEX_INFO"), ({"INDEX_INFO": b"junk"}, "not one Avro record")])
def test_an_hfile_that_is_no_index(tmp_path, info, found) -> None:
    storage, sink = LocalStorage(str(tmp_path)), io.BytesIO()
    HFileWriter(sink, "x").finish(info)
    storage.create(PARTITIONS_PATH, sink.getvalue())
    with pytest.raises(CorruptFileError, match=found):
        read_bootstrap_index(storage)
