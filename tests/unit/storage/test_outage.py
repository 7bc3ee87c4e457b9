"""Errors of a storage that does not answer, and those that say something else."""

from __future__ import annotations

import errno
import pickle

import pytest

from hoodie.errors import AccessDeniedError, StorageError
from hoodie.storage.outage import is_outage, storage_error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        TimeoutError("timed out"),
        ConnectionResetError(),
        OSError(errno.EIO, "Could not connect to the endpoint URL"),
        OSError(errno.EHOSTUNREACH, "No route to host"),
        OSError(-2, "Name or service not known"),
    ],
)
def test_a_storage_that_does_not_answer(error):
    assert is_outage(error)
    named = storage_error(error, "a look", "s3://lake/orders")
    assert type(named) is StorageError
    assert named.retryable
    assert named.what == "The storage of s3://lake/orders does not answer"
    assert named.found


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file"),
        OSError("torn thrift"),
        OSError(errno.ENOSPC, "full"),
        ValueError("no file"),
    ],
)
def test_other_errors_are_none(error):
    assert storage_error(error, "a look", "/lake/orders") is None


def test_a_missing_right_keeps_its_command_on_its_way_to_another_process(tmp_path):
    denied = storage_error(PermissionError(13, "Permission denied", str(tmp_path / "a")), "a look", str(tmp_path))
    assert isinstance(denied, AccessDeniedError)
    assert denied.command.startswith("sudo setfacl -R -m u:")
    assert f"`{denied.command}`" in denied.fix
    again = pickle.loads(pickle.dumps(denied))
    assert (again.what, again.found, again.fix, again.command) == (
        denied.what,
        denied.found,
        denied.fix,
        denied.command,
    )
    assert storage_error(denied, "a look", "elsewhere") is denied
