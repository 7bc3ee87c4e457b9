"""The choice of the lock provider; writers of one table have the same one."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError
from hoodie.storage import LocalStorage
from hoodie.transaction.locks import table_lock
from hoodie.transaction.locks.files import LOCK
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT, locking
from tests.support.tables import batch, create

PACKAGE = "org.apache.hudi.client.transaction.lock."


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


@pytest.mark.parametrize("name", ["FileSystemBasedLockProvider", f" {PACKAGE}FileSystemBasedLockProvider"])
def test_a_provider_goes_by_its_name_with_or_without_package(storage, name):
    with table_lock(storage, FakeClock(), "upsert", locking(provider=name)):
        assert storage.info(LOCK) is not None


@pytest.mark.parametrize(
    "name",
    [
        "Redis",
        "",
        "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider",
        f"{PACKAGE}HiveMetastoreBasedLockProvider",
        "hivemetastorebasedlockprovider",
    ],
)
def test_an_unknown_provider_is_an_error_before_anything_is_written(tmp_path, name):
    table = create(tmp_path / "t", FakeClock())
    with pytest.raises(
        ConfigError,
        match=r"lock\.provider.*FileSystemBasedLockProvider, Storage.*, Zookeeper.*, HiveMetastore.*, InProcess",
    ):
        table.write(batch([("a", "p", 1, 1)]), "insert", {"hoodie.write.lock.provider": name})
    assert len(table.timeline) == 0


@pytest.mark.parametrize("folder", ["{}/.hoodie", "{}/.hoodie/", "file:{}/.hoodie", "file://{}/.hoodie"])
def test_the_lock_is_in_the_tables_own_folder(storage, folder):
    with table_lock(storage, FakeClock(), "upsert", locking(filesystem__path=folder.format(storage.base_path))):
        pass
    with (
        pytest.raises(ConfigError, match=r"filesystem\.path names another folder.*/elsewhere"),
        table_lock(storage, FakeClock(), "upsert", locking(filesystem__path="/elsewhere")),
    ):
        pytest.fail("a lock where nobody looks")


def test_a_lock_is_taken_away_from_nobody_who_works(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    with pytest.raises(ConfigError, match=r"filesystem\.expire=5 is refused"):
        table.write(batch([("a", "p", 1, 1)]), "insert", {"hoodie.write.lock.filesystem.expire": 5})


@pytest.mark.parametrize("left", [b"", b"{\x00", json.dumps({"lockThreadName": "Hudi's"}).encode()])
def test_two_providers_on_one_table_are_told(storage, left):
    storage.create(LOCK, left)
    for _ in range(2):  # the lock among threads was given back
        with (
            pytest.raises(
                ConfigError, match=r"Two lock providers .*InProcess.* here, and the lock \.hoodie/lock of a File"
            ),
            table_lock(storage, FakeClock(), "clean", locking(provider="InProcessLockProvider")),
        ):
            pytest.fail("two writers at once")
    assert storage.read(LOCK) == left


def test_what_a_dead_writer_of_another_provider_left_is_in_nobodys_way(storage):
    with table_lock(storage, FakeClock(), "upsert", NO_WAIT):
        entry = json.loads(storage.read(LOCK))
    storage.create(LOCK, json.dumps(entry).encode())
    with table_lock(storage, FakeClock(), "clean", locking(provider="InProcessLockProvider")):
        pass


@pytest.mark.parametrize(
    "option", ["zookeeper__lock_key", "zookeeper__url", "hivemetastore__table", "hivemetastore__database"]
)
@pytest.mark.parametrize("value", ["", "  "])
def test_a_lock_without_a_name_is_refused(option, value):
    with pytest.raises(ConfigError, match="not empty"):
        locking(**{option: value})
