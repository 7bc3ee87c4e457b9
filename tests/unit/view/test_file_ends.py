"""Flink makes one write stat of the mini-batches of a file group: its size is their sum, and its path that of the last file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import CorruptFileError
from hoodie.model.names import LogFileName
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

ROWS = {"a": ("p", 2, 2), "b": ("p", 1, 1)}


def made(path, kind, version):
    """Two commits of one file group, the second one by `mini_batches`."""
    table = create(path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return table


def say_size(table, size):
    state, commit = table.state(), table.timeline.last_commit
    metadata = state.commit_metadata(commit)
    rewrite(table, commit, replace(metadata, stats=(replace(metadata.stats[0], file_size=size),)))


def rewrite(table, commit, metadata):
    layout = table.state().layout
    table.storage.delete(layout.path(commit))
    table.storage.create(layout.path(commit), layout.encode_commit(metadata, replace=False))


def mini_batches(table):
    """Let the last commit say what Flink's says after two mini-batches; the second one wrote nothing that counts."""
    state, commit = table.state(), table.timeline.last_commit
    metadata = state.commit_metadata(commit)
    (stat,) = metadata.stats
    merged = replace(stat, file_size=stat.file_size * 2)
    if stat.log is not None and table.version > 6:
        folder, _, name = stat.path.rpartition("/")
        first = LogFileName.parse(name)
        last = str(replace(first, version=first.version + 1))
        table.storage.create(f"{folder}/{last}", table.storage.read(stat.path))
        merged = replace(merged, path=f"{folder}/{last}", log=replace(stat.log, log_files=(*stat.log.log_files, last)))
    rewrite(table, commit, replace(metadata, stats=(merged,)))
    return merged.path


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_that_is_whole_is_not_short(tmp_path, kind, version):
    table = made(tmp_path, kind, version)
    files = 2 if kind == "COPY_ON_WRITE" or version == "6" else 3
    path = mini_batches(table)
    assert content(table) == ROWS
    assert sum(len(each.paths) for each in table.file_slices()) == files - (kind == "COPY_ON_WRITE")
    assert table.diagnose().findings == ()
    if files == 3:  # what the stat says is the size of both logs
        return
    whole = table.storage.read(path)
    for size in (0, 6, len(whole) - 9, len(whole) - 1):
        table.storage.delete(path)
        table.storage.create(path, whole[:size])
        with pytest.raises(CorruptFileError, match="cut short"):
            table.read()
        assert [each.check for each in table.diagnose().findings if each.path == path] == ["file-size"]


def test_a_log_that_ends_after_a_whole_block_is_short(tmp_path):
    """Since table version 8 a log is written at once: no other block may come after the one that is there."""
    table = made(tmp_path, "MERGE_ON_READ", "9")
    path = table.file_slices()[0].paths[-1]
    block = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, block + block)
    say_size(table, 2 * len(block))
    assert content(table) == ROWS
    table.storage.delete(path)
    table.storage.create(path, block)
    with pytest.raises(CorruptFileError, match="cut short"):
        table.read()
