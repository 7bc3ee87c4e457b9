"""Files of a local disk: creations that are killed or race, replacements, moves."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hoodie.storage import LocalStorage


def test_files_that_are_being_created_are_not_listed(tmp_path):
    (tmp_path / ".tmp-123").write_text("half")
    found = LocalStorage(str(tmp_path)).list("")
    assert not found.files
    assert not found.folders


def test_a_killed_writer_leaves_no_torn_file(tmp_path):
    """Neither readers nor listings see what it left, and deleting the file, as rollbacks do, deletes that too."""
    dies = "import os, sys; from hoodie.storage import LocalStorage\n"
    dies += "with LocalStorage(sys.argv[1]).open_output('p/f.parquet') as sink: sink.write(b'half'); sink.flush(); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", dies, str(tmp_path)]).returncode == 9
    (left,) = (tmp_path / "p").iterdir()
    assert left.read_bytes() == b"half"
    assert "parquet" not in left.name
    storage = LocalStorage(str(tmp_path))
    assert not storage.list("p").files
    assert storage.info("p/f.parquet") is None
    assert not storage.delete("p/f.parquet")
    assert list((tmp_path / "p").iterdir()) == []
    with storage.open_output("p/f.parquet") as sink:
        sink.write(b"whole")
        assert storage.info("p/f.parquet") is None
    assert storage.read("p/f.parquet") == b"whole"
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["f.parquet"]


def test_of_two_writers_of_one_file_the_first_to_finish_wins(tmp_path):
    """The attempts of a compaction in two processes may give their files the same name."""
    storage = LocalStorage(str(tmp_path))

    def second():
        with storage.open_output("p/f.parquet") as late:
            late.write(b"late" * (1 << 20))
            with storage.open_output("p/f.parquet") as sink:
                sink.write(b"first")
            late.write(b"late" * (1 << 20))

    with pytest.raises(FileExistsError):
        second()
    assert storage.read("p/f.parquet") == b"first"
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["f.parquet"]


def test_a_creation_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    storage = LocalStorage(str(tmp_path))
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="is full"):
        storage.create("x", b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"content", b""])
def test_a_folder_that_is_deleted_while_a_file_is_created_there(tmp_path, monkeypatch, content):
    """A rollback in another process deletes the folder of markers while a writer makes one. The file comes a moment later."""
    storage, make, deleted = LocalStorage(str(tmp_path)), Path.mkdir, []

    def deleted_at_once(path, *arguments, **more):
        make(path, *arguments, **more)
        if len(deleted) < 3 and path.is_dir():
            deleted.append(path)
            path.rmdir()

    monkeypatch.setattr(Path, "mkdir", deleted_at_once)
    storage.create("markers/f", content)
    assert len(deleted) == 3
    assert storage.read("markers/f") == content


def test_a_folder_that_is_deleted_after_a_file_was_created_there(tmp_path, monkeypatch):
    """The file was there. Its maker cannot know more."""
    storage, link = LocalStorage(str(tmp_path)), os.link

    def deleted_at_once(source, target):
        link(source, target)
        shutil.rmtree(tmp_path / "markers")

    monkeypatch.setattr("hoodie.storage.local.os.link", deleted_at_once)
    storage.create("markers/f", b"content")
    assert storage.info("markers/f") is None


def test_a_sweep_takes_no_file_that_a_writer_is_about_to_lock(tmp_path, monkeypatch):
    """The sweeper has looked at the file before the writer locks it, and deletes it after."""
    storage, lock, unlink = LocalStorage(str(tmp_path)), fcntl.flock, Path.unlink
    looked, sweepers = threading.Event(), []

    def slow_lock(file, operation):
        if operation == fcntl.LOCK_SH and not sweepers:
            sweepers.append(threading.Thread(target=storage.sweep, args=([""],)))
            sweepers[0].start()
            assert looked.wait(5)
        lock(file, operation)
        if operation != fcntl.LOCK_SH:
            looked.set()

    def slow_unlink(path, **more):
        if threading.current_thread() in sweepers:
            time.sleep(0.3)
        unlink(path, **more)

    monkeypatch.setattr("hoodie.storage.local.fcntl.flock", slow_lock)
    monkeypatch.setattr(Path, "unlink", slow_unlink)
    link = os.link

    def late_link(*arguments):
        sweepers[0].join()
        link(*arguments)

    monkeypatch.setattr("hoodie.storage.local.os.link", late_link)
    storage.create("f", b"content")
    assert storage.read("f") == b"content"


def test_a_process_that_is_stopped_in_the_middle_of_a_replacement_stops_nobody_for_ever(tmp_path):
    storage = LocalStorage(str(tmp_path))
    storage.create("lock", b"old")
    with open(tmp_path / ".lock.guard", "ab") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError):
            storage.replace("lock", b"old", b"new")
    assert storage.replace("lock", b"old", b"new")


def test_a_file_that_is_deleted_while_it_is_replaced_is_not_replaced(tmp_path, monkeypatch):
    storage = LocalStorage(str(tmp_path))
    storage.create("lock", b"old")
    read = Path.read_bytes

    def deleted_before_it_is_read(path):
        path.unlink()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", deleted_before_it_is_read)
    assert storage.replace("lock", b"old", b"new") is False
    assert storage.info("lock") is None


def test_a_file_that_two_processes_move_is_moved(tmp_path, monkeypatch):
    storage, link = LocalStorage(str(tmp_path)), os.link
    storage.create("a/f", b"one")

    def moved_by_another_at_once(source, target):
        link(source, target)
        os.unlink(source)

    monkeypatch.setattr(os, "link", moved_by_another_at_once)
    assert storage.move("a/f", "b/f")
    assert (storage.info("a/f"), storage.read("b/f")) == (None, b"one")


def test_a_move_that_was_cut_short_is_ended(tmp_path):
    storage = LocalStorage(str(tmp_path))
    storage.create("a/f", b"one")
    storage.create("b/g", b"")
    os.link(tmp_path / "a/f", tmp_path / "b/f")
    assert storage.move("a/f", "b/f")
    assert (storage.info("a/f"), storage.read("b/f")) == (None, b"one")


def test_a_folder_that_others_fill_while_it_is_deleted(tmp_path, monkeypatch):
    """As tasks do that outlive the write for which they make markers."""
    storage = LocalStorage(str(tmp_path))
    remove, late = os.rmdir, iter(range(3))

    def filled(path, *args, **kwargs):
        for number in late:
            (tmp_path / "f" / f"late-{number}").touch()
            break
        return remove(path, *args, **kwargs)

    storage.create("f/a", b"1")
    monkeypatch.setattr(os, "rmdir", filled)
    storage.delete_folder("f")
    assert not (tmp_path / "f").exists()
    late = iter(range(1000))
    storage.create("f/a", b"1")
    with pytest.raises(OSError, match="not empty"):
        storage.delete_folder("f")
