"""Every content that is moved aside is kept, with any size and time, also after kills and beside others."""

from __future__ import annotations

import os
import uuid

import pytest

from hoodie.storage import LocalStorage, open_storage, walk_files
from hoodie.transaction.quarantine import FOLDER, copy_aside, move_aside


def kept(storage):
    return sorted(storage.read(file.path) for file in walk_files(storage, FOLDER))


def test_contents_of_one_size_and_time_are_both_kept(tmp_path):
    storage, path = LocalStorage(str(tmp_path)), tmp_path / "p/f.parquet"
    path.parent.mkdir()
    for body in (b"first", b"other", b"first", b""):
        path.write_bytes(body)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        assert move_aside(storage, "p/f.parquet", "nobody's").startswith(f"{FOLDER}/p/f.parquet~1700000000000-")
        assert not path.exists()
    assert kept(storage) == [b"", b"first", b"other"]
    assert move_aside(storage, "p/f.parquet", "nobody's") is None


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127])
def test_a_name_that_leaves_no_room_for_the_mark_is_shortened(tmp_path, name):
    storage = LocalStorage(str(tmp_path))
    for body in (b"first", b"other"):
        storage.create(f"p/{name}", body)
        aside = move_aside(storage, f"p/{name}", "nobody's")
        assert aside.startswith(f"{FOLDER}/p/{name[:100]}")
        assert len(aside.rpartition("/")[2].encode()) in (254, 255)
    assert kept(storage) == [b"first", b"other"]


def test_a_copy_that_a_killed_process_has_left_is_made_anew():
    storage = open_storage(f"memory://{uuid.uuid4()}/t")
    storage.create("p/f", b"content")
    aside = copy_aside(storage, "p/f")
    for torn in (b"", b"cont", b"tnetnoc"):
        storage.delete(aside)
        storage.create(aside, torn)
        assert copy_aside(storage, "p/f") == aside
        assert kept(storage) == [b"content"]


def test_a_file_that_changes_meanwhile_is_not_deleted(tmp_path):
    class Changing(LocalStorage):
        def open_output(self, path):
            (tmp_path / "f").write_bytes(b"later")
            return super().open_output(path)

    storage = Changing(str(tmp_path))
    (tmp_path / "f").write_bytes(b"first")
    with pytest.raises(OSError, match="changes while it is copied"):
        move_aside(storage, "f", "nobody's")
    assert (tmp_path / "f").read_bytes() == b"later"
