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
    body = state.layout.path(commit)
    table.storage.delete(body)
    table.storage.create(body, state.layout.encode_commit(replace(metadata, stats=(merged,)), replace=False))
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
    whole = table.storage.read(path)
    for size in (0, 6, len(whole) - 9, len(whole) - 1):
        table.storage.delete(path)
        table.storage.create(path, whole[:size])
        with pytest.raises(CorruptFileError, match="cut short"):
            table.read()
        assert [each.check for each in table.diagnose().findings if each.path == path] == ["file-size"]
