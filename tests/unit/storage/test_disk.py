"""A full disk is named with its folder and its bytes, and no part of a file is left. `/dev/full` takes no byte."""

from __future__ import annotations

import errno
import os

import pytest

from hoodie.errors import StorageError
from hoodie.storage import LocalStorage, local


@pytest.fixture
def full(tmp_path, monkeypatch):
    """A storage on a disk that is full: what is synced or flushed fails."""
    storage = LocalStorage(str(tmp_path))
    (tmp_path / "folder").mkdir()

    def fail(_number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(local.os, "fsync", fail)
    return storage


def test_a_file_of_a_known_size(full, tmp_path):
    with pytest.raises(
        StorageError,
        match=rf"The disk of {tmp_path}/folder is full\. Found: .* free, and a file of 2\.0 KiB did not fit.*clean --explain",
    ) as caught:
        full.create("folder/x", b"a" * 2048)
    assert caught.value.errno == errno.ENOSPC
    assert isinstance(caught.value, OSError)
    assert list((tmp_path / "folder").iterdir()) == []


def write(storage, path, flush):
    with storage.open_output(path) as sink:
        sink.write(b"a" * 1024)
        flush(sink)


def test_a_file_that_is_written_piece_by_piece(full, tmp_path):
    with pytest.raises(StorageError, match=r"a file of which 1\.0 KiB were written did not fit"):
        write(full, "folder/x", lambda sink: None)
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_buffer_that_fails_twice_is_one_error(tmp_path):
    def fail(sink):
        with open("/dev/full", "wb") as device:
            os.dup2(device.fileno(), sink.fileno())
        sink.flush()

    with pytest.raises(StorageError, match="is full"):
        write(LocalStorage(str(tmp_path)), "x", fail)
    assert list(tmp_path.iterdir()) == []
