"""No wrong plan deletes anything but data files of the table that the plan names, of the instant that it is about."""

from __future__ import annotations

import pytest

from hoodie.errors import UnsafeDeleteError
from hoodie.storage import LocalStorage
from hoodie.transaction.guard import (
    check_of_instant,
    check_source_files,
    delete_data_file,
    delete_data_files,
    delete_metadata_folder,
    delete_source_file,
    relative_path,
)
from tests.support.made_states import base_file, log_file

BASE, LOG = base_file("20260101000000000").path, log_file("20260101000000000").path


@pytest.fixture
def storage(tmp_path):
    storage = LocalStorage(str(tmp_path / "t"))
    for path in (BASE, LOG, "p/notes.txt", ".hoodie/hoodie.properties", f".hoodie/{BASE}"):
        storage.create(path, b"")
    return storage


@pytest.mark.parametrize(
    "path",
    [
        "p/notes.txt",
        f".hoodie/{BASE}",
        f"/{BASE}",
        f"p/../{BASE}",
        f"p//{BASE}",
        f"./{BASE}",
        "p/.hoodie_partition_metadata",
    ],
)
def test_of_a_plan_with_one_wrong_file_nothing_is_deleted(storage, path):
    with pytest.raises(UnsafeDeleteError, match="Refused to delete"):
        delete_data_files(storage, {BASE, LOG, path})
    assert storage.info(BASE) is not None
    delete_data_files(storage, {BASE, LOG})
    assert storage.info(BASE) is None
    assert storage.info(LOG) is None


def test_a_file_that_the_plan_does_not_name(storage):
    with pytest.raises(UnsafeDeleteError, match="the plan does not name it"):
        delete_data_file(storage, BASE, {LOG})
    assert delete_data_file(storage, BASE, {BASE})
    assert not delete_data_file(storage, BASE, {BASE}), "it is gone"


def test_files_of_another_instant_are_none_of_its_own(storage):
    check_of_instant(storage, [BASE, LOG], "20260101000000000")
    with pytest.raises(UnsafeDeleteError, match="it is a file of instant 20260101000000000"):
        check_of_instant(storage, [LOG, BASE], "20260101000000001")


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        (".hoodie/.temp/20260101000000000", True),
        (".hoodie/.deleted/20260101000000000_20260102000000", True),
        (".hoodie/.staged/1-0af", True),
        (".hoodie/metadata", True),
        (".hoodie", False),
        (".hoodie/.temp", False),
        (".hoodie/.temp/", False),
        (".hoodie/.temp/..", False),
        (".hoodie/timeline", False),
        ("p", False),
        ("", False),
    ],
)
def test_folders_of_the_metadata(storage, folder, allowed):
    storage.create(".hoodie/metadata/f", b"")
    if allowed:
        delete_metadata_folder(storage, folder, threads=2)
        assert storage.list(folder).files == ()
    else:
        with pytest.raises(UnsafeDeleteError, match="Refused to delete folder"):
            delete_metadata_folder(storage, folder)
    assert storage.info(BASE) is not None


def test_source_files_of_a_bootstrapped_table(tmp_path, storage):
    source = LocalStorage(str(tmp_path / "source"))
    uri, inside = f"{tmp_path}/source/p/f.parquet", f"{tmp_path}/t/{BASE}"
    source.create("p/f.parquet", b"")
    check_source_files(source, storage, [uri], [uri])
    with pytest.raises(UnsafeDeleteError, match="does not name it"):
        check_source_files(source, storage, [uri], [])
    with pytest.raises(UnsafeDeleteError, match="lies in the table"):
        check_source_files(LocalStorage(str(tmp_path)), storage, [inside], [inside])
    with pytest.raises(UnsafeDeleteError, match="the plan does not name it"):
        delete_source_file(source, uri, [])
    assert delete_source_file(source, uri, [uri])
    assert not delete_source_file(source, uri, [uri]), "it is gone"


def test_paths_of_plans_become_those_of_the_table():
    for path in ("p/f", "/lake/t/p/f", "file:///lake/t/p/f", "file:/lake/t/p/f"):
        assert relative_path("/lake/t", path) == "p/f"
    for path in ("/lake/tt/p/f", "/lake/p/f", "s3://t/p/f"):
        with pytest.raises(UnsafeDeleteError, match="outside the table"):
            relative_path("/lake/t", path)
