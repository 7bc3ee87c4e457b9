"""`hoodie.properties` on storage: whole or from the backup, after an update that died at any call."""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib

import pytest

from hoodie import HoodieTable
from hoodie.config.properties.java_properties import format_properties
from hoodie.config.properties.store import (
    BACKUP,
    COPYING,
    DROPPED,
    MOVING,
    PROPERTIES,
    _versions,
    create_properties,
    load_properties,
    recover_properties,
    update_properties,
)
from hoodie.config.properties.table import TableProperties
from hoodie.errors import CorruptTableError, OccupiedPathError, TableNotFoundError
from hoodie.storage import LocalStorage
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, create

OLD = TableProperties({"hoodie.table.name": "trips", "hoodie.table.version": "9", "k": "old"}).with_checksum()
NEW = OLD.with_values({"k": "new: ü", "more": ""})


@pytest.fixture
def storage(tmp_path):
    found = LocalStorage(str(tmp_path / "t"))
    create_properties(found, OLD)
    return found


def load(storage):
    return dict(load_properties(storage, FakeClock()).raw)


def put(storage, path, data):
    storage.delete(path)
    storage.create(path, data)


def text(properties):
    return format_properties(properties.raw, "")


def test_the_checksum_is_that_of_hudi():
    known = TableProperties({"hoodie.table.name": "mor_avro"}).with_checksum()
    assert known.raw["hoodie.table.checksum"] == "1969345296"
    with_database = TableProperties({"hoodie.table.name": "t", "hoodie.database.name": "d"})
    assert with_database.checksum() == zlib.crc32(b"d.t")


def test_properties_without_a_checksum_are_accepted(storage):
    put(storage, PROPERTIES, b"hoodie.table.name=x\nhoodie.table.version=6\n")
    assert load(storage)["hoodie.table.name"] == "x"


def test_what_is_created_and_updated_comes_back(storage):
    assert load(storage) == dict(OLD.raw)
    update_properties(storage, NEW)
    assert load(storage) == dict(NEW.raw)
    assert storage.info(BACKUP) is None
    with pytest.raises(FileExistsError):
        create_properties(storage, OLD)


def test_an_update_drops_the_checksum_files_of_hadoop(storage):
    for name in (".hoodie.properties.crc", ".hoodie.properties.backup.crc"):
        storage.create(f".hoodie/{name}", b"stale")
    update_properties(storage, NEW)
    assert [file.name for file in storage.list(".hoodie").files] == ["hoodie.properties"]


@pytest.mark.parametrize("half", [False, True])
def test_an_update_that_dies_at_any_call_loses_nothing(tmp_path, storage, half):
    for fail_at in range(1, 30):
        path = tmp_path / "run"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(tmp_path / "t", path)
        try:
            update_properties(FaultyStorage(path, fail_at, half=half), NEW)
        except Killed:
            left = LocalStorage(str(path))
            seen = load(left)
            assert seen in (dict(OLD.raw), dict(NEW.raw)), fail_at
            recover_properties(left)
            assert load(left) == seen, fail_at
            assert left.info(BACKUP) is None
            update_properties(left, NEW)
            assert load(left) == dict(NEW.raw)
        else:
            assert fail_at > 8
            return
    pytest.fail("an update makes more calls than it should")


@pytest.mark.parametrize("broken", [None, b"", b"\\u1", text(OLD)[:40], text(OLD).replace(b"trips", b"tripz")])
def test_an_invalid_main_file_is_replaced_by_the_backup(storage, broken):
    storage.delete(PROPERTIES)
    if broken is not None:
        storage.create(PROPERTIES, broken)
    storage.create(BACKUP, text(NEW))
    assert load(storage) == dict(NEW.raw)
    assert storage.info(BACKUP) is not None, "reading changes nothing"
    recover_properties(storage)
    assert storage.read(PROPERTIES) == text(NEW)
    assert storage.info(BACKUP) is None


@pytest.mark.parametrize("backup", [b"", text(NEW), b"\\u1"])
def test_a_valid_main_file_wins_over_any_backup(storage, backup):
    storage.create(BACKUP, backup)
    assert load(storage) == dict(OLD.raw)
    recover_properties(storage)
    assert load(storage) == dict(OLD.raw)
    assert storage.info(BACKUP) is None


def test_when_both_are_invalid_nothing_is_thrown_away(storage):
    put(storage, PROPERTIES, b"torn")
    storage.create(BACKUP, b"torn too")
    for attempt in (load, recover_properties):
        with pytest.raises(CorruptTableError, match="is not valid"):
            attempt(storage)
        assert (storage.read(PROPERTIES), storage.read(BACKUP)) == (b"torn", b"torn too")


def test_a_lost_file_and_no_table_are_two_things(tmp_path, storage):
    storage.delete(PROPERTIES)
    with pytest.raises(TableNotFoundError):  # what a creation that died leaves
        load(storage)
    storage.create(".hoodie/20240101000000000.commit", b"{}")
    with pytest.raises(CorruptTableError, match=r"hoodie.properties of .* is missing"):
        load(storage)
    with pytest.raises(TableNotFoundError, match="is not a Hudi table"):
        load(LocalStorage(str(tmp_path / "nowhere")))


def test_a_lost_file_comes_back_by_a_table_of_the_same_options(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    rows = table.read()
    (tmp_path / "t" / PROPERTIES).unlink()
    with pytest.raises(CorruptTableError, match=r"has no backup.*run `hudi-services table recover`"):
        HoodieTable.open(table.base_path)
    create(tmp_path / "same")
    shutil.copy(tmp_path / "same" / PROPERTIES, tmp_path / "t" / PROPERTIES)
    assert HoodieTable.open(table.base_path).read().equals(rows)


def test_older_versions_of_an_object_are_listed_by_a_line():
    line = "`aws s3api list-object-versions --bucket lake --prefix orders/.hoodie/hoodie.properties`"
    assert _versions("s3a://lake/orders").endswith(line)
    assert _versions("/lake/orders") == ""


@pytest.mark.parametrize("name", ["a.parquet", "part=p/a.parquet"])
def test_a_path_with_other_files_is_not_a_table_that_is_yet_to_come(tmp_path, name):
    (tmp_path / "t" / name).parent.mkdir(parents=True)
    (tmp_path / "t" / name).write_bytes(b"PAR1")
    (tmp_path / "t/.hoodie").mkdir()
    with pytest.raises(
        OccupiedPathError, match=rf"is not a Hudi table.*and other files: {name.split('/')[0]}\. To do: cho"
    ):
        load(LocalStorage(str(tmp_path / "t")))


def test_files_of_a_table_without_its_hoodie_are_not_bootstrapped(tmp_path):
    """Older versions of rows are among them. The way that is printed makes the table again from its source."""
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    shutil.rmtree(tmp_path / "t/.hoodie")
    with pytest.raises(OccupiedPathError, match=r"\.hoodie is lost: restore it from a copy") as caught:
        HoodieTable.open(table.base_path)
    move, load = re.findall("`([^`]+)`", caught.value.fix)
    assert load == "hudi-services ingest"
    assert "bootstrap`" not in caught.value.fix
    subprocess.run(move, shell=True, check=True)
    assert list((tmp_path / "t.lost/t").rglob("*.parquet"))
    assert not (tmp_path / "t").exists()


def test_a_reader_that_meets_an_update_tries_again(storage):
    """Between the delete and the new file, and when the backup is gone by the time it is looked for."""

    class Updating(FakeClock):
        def sleep(self, seconds):
            super().sleep(seconds)
            storage.create(PROPERTIES, text(NEW))

    storage.delete(PROPERTIES)
    storage.create(".hoodie/20240101000000000.commit", b"{}")
    assert load_properties(storage, Updating()).raw["k"] == NEW.raw["k"]


@pytest.mark.parametrize("mark", [DROPPED, MOVING, COPYING])
def test_a_drop_move_or_copy_that_has_begun_is_not_waited_for(storage, mark):
    storage.delete(PROPERTIES)
    storage.create(mark, b"")
    clock = FakeClock()
    begun = clock.now()
    with pytest.raises(OccupiedPathError, match="has begun and not ended"):
        load_properties(storage, clock)
    assert (clock.now() - begun).total_seconds() < 0.1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"hoodie.table.type": "merge_on_read"},
            "type=merge_on_read, which is not one of COPY_ON_WRITE, MERGE_ON_READ",
        ),
        ({"hoodie.table.type": ""}, "hoodie.table.type="),
        ({"hoodie.table.timeline.timezone": "Mars"}, "timezone=Mars, which is not one of LOCAL, UTC"),
        ({"hoodie.timeline.path": "../../x"}, r"path=\.\./\.\./x, which is not a folder inside \.hoodie"),
        ({"hoodie.timeline.history.path": "/x"}, "history.path=/x"),
        ({"hoodie.archivelog.folder": "a/./b"}, "archivelog.folder=a/./b"),
    ],
)
def test_values_that_no_table_has_are_refused(tmp_path, values, said):
    """Taken as they are, a timeline elsewhere would be listed and written, or the logs of a table passed over."""
    wrong = LocalStorage(str(tmp_path / "wrong"))
    create_properties(wrong, OLD.with_values(values))
    with pytest.raises(CorruptTableError, match=rf"hoodie\.properties of .*wrong is not valid.*{said}.*restore it"):
        load(wrong)


@pytest.mark.parametrize("folder", ["archived", "a/b", ""])
def test_folders_inside_the_metadata_folder_are_taken(tmp_path, folder):
    fine = LocalStorage(str(tmp_path / "fine"))
    create_properties(fine, OLD.with_values({"hoodie.archivelog.folder": folder}))
    assert load(fine)["hoodie.archivelog.folder"] == folder


def test_a_path_inside_a_table_or_above_tables_names_the_table(tmp_path):
    table = create(tmp_path / "lake" / "a table")
    table.write(batch([("a", "p", 1, 1)]), "upsert")
    named = f"`hudi-services show table --target-base-path '{table.base_path}'`"
    for path in (tmp_path / "lake", tmp_path / "lake" / "a table" / "part=p"):
        with pytest.raises(OccupiedPathError) as raised:
            HoodieTable.open(str(path))
        assert named in raised.value.fix
        assert "bootstrap" not in raised.value.fix
