"""Missing rights name the user, the place and a command, for who is no administrator: each case is a process of `nobody`."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from hoodie.error_boundary import call
from hoodie.errors import AccessDeniedError
from hoodie.storage import LocalStorage
from hoodie.storage.rights import access_denied, is_denied
from hudi_services.runtime.failures import Failure
from hudi_services.sources.ingest.files.text import unreadable
from tests.support.tables import create

NOBODY = 65534
PROGRAM = """
import os
from hoodie.storage.rights import access_denied
os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
try:
    with open({path!r}, {mode!r}):
        print("opened")
except PermissionError as error:
    print(access_denied("a test", error))
"""


def refusal(path, mode="r"):
    """The error of `nobody`, who opens a file."""
    code = PROGRAM.format(nobody=NOBODY, path=str(path), mode=mode)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout


@pytest.fixture
def folder(tmp_path):
    """A folder that anybody may enter: those of pytest are closed."""
    if os.geteuid():
        pytest.skip("only an administrator can become another user")
    for above in [tmp_path, *tmp_path.parents]:
        if above.stat().st_uid == 0 and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o055)
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.mark.process
def test_the_highest_closed_folder_or_the_file_is_named(folder):
    file = folder / "a" / "b" / "c.csv"
    file.parent.mkdir(parents=True)
    file.write_text("x")
    file.chmod(0o600)
    message = refusal(file)
    assert f"Found: user nobody may not use {file} (mode -rw-------, owner root)." in message
    assert (
        f"To do: give it the right, such as by `sudo setfacl -R -m u:nobody:rwX {file}`, or run as the owner."
        in message
    )
    file.chmod(0o644)
    assert f"may not use {file.parent} (mode drwxr-xr-x" in refusal(file, "w"), "a file is written by way of its folder"
    (folder / "a").chmod(0o700)
    assert f"may not use {folder}/a (mode drwx------, owner root)" in refusal(file)


def test_the_right_to_a_timeline_is_the_right_to_its_table(tmp_path):
    file = tmp_path / "orders/.hoodie/timeline/1.commit"
    file.parent.mkdir(parents=True)
    denied = access_denied("reading", PermissionError(13, "Permission denied", str(file)))
    assert f"may not use {file.parent} " in denied.found
    assert denied.fix.endswith(f":rwX {tmp_path}/orders`, or run as the owner")


def test_calls_commands_and_workers_have_the_same_error(tmp_path):
    path = str(tmp_path / "x")
    expected = r"^A right is missing for reading. Found: user \S+ may not use"
    with pytest.raises(AccessDeniedError, match=expected) as caught, call("reading"):
        raise PermissionError(13, "Permission denied", path)
    assert not caught.value.retryable
    assert caught.value.filename == path
    failure = Failure.of(PermissionError(13, "Permission denied", path))
    assert (failure.error, failure.retryable, failure.exit_code) == ("AccessDeniedError", False, 1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_an_object_store_refuses_by_its_own_text():
    error = PermissionError("Access Denied")
    assert is_denied(error)
    denied = access_denied("writing", error)
    assert (denied.found, denied.fix) == (
        "Access Denied",
        "give this process the right at the storage, then run it again",
    )
    assert not is_denied(FileNotFoundError(2, "none"))


def test_a_table_without_rights_is_no_fault_of_the_storage(tmp_path, monkeypatch):
    table = create(tmp_path / "t")

    def refused(*_args):
        raise PermissionError(13, "Permission denied", str(tmp_path / "t"))

    monkeypatch.setattr(type(table.storage), "list", refused)
    with pytest.raises(AccessDeniedError, match="A right is missing for"):
        table.read()


def test_a_source_file_without_a_right_is_not_to_be_left_out(tmp_path):
    """Arrow's error has no name of the file."""
    error = PermissionError(13, "Failed to open local file")
    denied = unreadable(LocalStorage(str(tmp_path)), "day/a.csv", "csv", error)
    assert isinstance(denied, AccessDeniedError)
    assert "skip" not in denied.fix
    assert str(tmp_path) in denied.found
