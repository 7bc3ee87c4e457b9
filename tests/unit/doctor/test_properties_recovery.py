"""Lost properties come back as they were, and never where the files contradict what was declared."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.properties.store import BACKUP, DROPPED, PROPERTIES
from hoodie.doctor.properties_recovery import REPLACED, plan_recovery, recover_properties_of
from hoodie.errors import ConfigError, CorruptTableError
from hoodie.storage import open_storage
from hoodie.transaction.create import new_properties
from hoodie.transaction.locks import Locking
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create

LOCKING = Locking.of(resolve({}, LOCK_KEYS))

ROWS = batch([("a", "p", 1, 1), ("b", "q", 1, 2)])


def lost(path, **options):
    """A table with rows that has lost its properties, and these."""
    table = create(path, **options)
    table.write(ROWS, "upsert" if table.state().properties.record_key_fields else "insert", SMALL_BLOOM)
    file = path / PROPERTIES
    content = file.read_bytes()
    file.unlink()
    return open_storage(str(path)), content


def planned(storage, **options):
    return plan_recovery(storage, SystemClock(), new_properties({**OPTIONS, **options}))


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.table.type": kind, "hoodie.write.table.version": version}
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
        for version in ("6", "9")
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_the_same_bytes_come_back(tmp_path, options):
    storage, content = lost(tmp_path, **options)
    (tmp_path / ".hoodie/.hoodie.properties.crc").write_bytes(b"of the lost file")
    plan = planned(storage, **options)
    assert not (tmp_path / PROPERTIES).exists(), "a plan writes nothing"
    assert "key (id) and partitions (part) of 2 rows in 2 base files" in plan.shown
    assert plan.declared[0] == "ordering (ts), by EVENT_TIME_ORDERING"
    recover_properties_of(storage, SystemClock(), plan, LOCKING)
    drop_time = [line for line in content.splitlines() if not line.startswith(b"#")]
    assert [
        line for line in (tmp_path / PROPERTIES).read_bytes().splitlines() if not line.startswith(b"#")
    ] == drop_time
    assert not (tmp_path / ".hoodie/.hoodie.properties.crc").exists(), "Hadoop would refuse the new file by it"
    assert HoodieTable.open(tmp_path).read().num_rows == 2


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"hoodie.table.recordkey.fields": "value"}, "'a' in .*, where the entry makes '1'"),
        ({"hoodie.table.recordkey.fields": "id,ts"}, "'a' in .*, where the entry makes 'id:a,ts:1'"),
        ({"hoodie.table.recordkey.fields": ""}, "keys such as 'a' in .*, where the entry makes a table without key"),
        ({"hoodie.table.recordkey.fields": "other"}, "columns id, part, ts, value, where the entry makes 'other'"),
        ({"hoodie.table.ordering.fields": "other"}, "columns id, part, ts, value, where the entry makes 'other'"),
        ({"hoodie.table.partition.fields": "value"}, "'part=p' in .*, where the entry makes 'value=1'"),
        ({"hoodie.table.partition.fields": ""}, "'part=p' in .*, where the entry makes ''"),
        ({"hoodie.datasource.write.hive_style_partitioning": "false"}, "'part=p' in .*, where the entry makes 'p'"),
        ({"hoodie.table.type": "MERGE_ON_READ"}, "commits of type COPY_ON_WRITE, where the entry makes MERGE_ON_READ"),
        ({"hoodie.table.name": "rides"}, "the name 'trips', where the entry makes 'rides'"),
        ({"hoodie.write.table.version": "6"}, "a timeline of table version 8 or 9, where the entry makes version 6"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
def test_what_the_files_contradict_is_refused(lost_table, options, found):
    with pytest.raises(ConfigError, match=found):
        planned(lost_table, **options)
    assert lost_table.info(PROPERTIES) is None


@pytest.fixture(scope="module")
def lost_table(tmp_path_factory):
    return lost(tmp_path_factory.mktemp("lost"))[0]


def test_version_6_and_merge_on_read_are_seen_in_the_timeline(tmp_path):
    storage, _ = lost(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"})
    with pytest.raises(ConfigError, match=r"a timeline of table version 6.* correct `version: 6` in the entry"):
        planned(storage, **{"hoodie.table.type": "MERGE_ON_READ"})
    with pytest.raises(ConfigError, match=r"correct `type: MERGE_ON_READ` in the entry"):
        planned(storage, **{"hoodie.write.table.version": "6"})


def test_a_file_that_is_there_is_never_replaced(tmp_path):
    storage, content = lost(tmp_path)
    plan = planned(storage)
    (tmp_path / PROPERTIES).write_bytes(content)
    for attempt in (
        lambda: planned(storage),
        lambda: recover_properties_of(storage, SystemClock(), plan, LOCKING),
    ):
        with pytest.raises(ConfigError, match="are not lost"):
            attempt()
    assert (tmp_path / PROPERTIES).read_bytes() == content


@pytest.mark.parametrize("left", [DROPPED, ".hoodie/hoodie.properties.backup"])
def test_a_table_that_is_being_dropped_or_changed_is_left_alone(tmp_path, left):
    storage, content = lost(tmp_path)
    (tmp_path / left).write_bytes(content)
    with pytest.raises(ConfigError, match=f"are not lost.*{left}"):
        planned(storage)


def test_keys_that_were_generated_are_seen(tmp_path):
    storage, _ = lost(tmp_path, **{"hoodie.table.recordkey.fields": "", "hoodie.table.ordering.fields": ""})
    generated = {"hoodie.table.recordkey.fields": "", "hoodie.table.ordering.fields": ""}
    assert "key () and partitions (part) of 2 rows in 2 base files" in planned(storage, **generated).shown


def test_nothing_is_made_of_a_declaration_alone(tmp_path):
    storage, _ = lost(tmp_path)
    for file in (tmp_path / ".hoodie/timeline").glob("*.*"):
        file.unlink()
    with pytest.raises(CorruptTableError, match="No completed commit"):
        planned(storage)


def test_properties_of_another_table_are_replaced_and_kept(tmp_path):
    storage, content = lost(tmp_path / "own")
    create(tmp_path / "other", **{"hoodie.table.name": "rides", "hoodie.table.recordkey.fields": "value"})
    other = (tmp_path / "other" / PROPERTIES).read_bytes()
    file = tmp_path / "own" / PROPERTIES
    file.write_bytes(other)
    with pytest.raises(ConfigError, match="the name 'trips', where the entry makes 'rides'"):
        planned(storage, **{"hoodie.table.name": "rides"})
    plan = planned(storage)
    assert plan.mismatch.startswith("key 'a' in ")
    assert file.read_bytes() == other, "a plan writes nothing"
    recover_properties_of(storage, SystemClock(), plan, LOCKING)
    assert file.read_bytes().splitlines()[2:] == content.splitlines()[2:]
    assert (tmp_path / "own" / REPLACED).read_bytes() == other
    assert HoodieTable.open(tmp_path / "own").read().num_rows == 2
    file.write_bytes(content + b"hoodie.more=1\n")
    with pytest.raises(ConfigError, match="have changed since the plan was made"):
        recover_properties_of(storage, SystemClock(), plan, LOCKING)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"\x00\xff garbage" * 9,
        lambda whole: whole + b"hoodie.x=\\u12",
        lambda whole: whole.replace(b"name=trips", b"name=other"),
    ],
    ids=["empty", "half", "garbage", "escape", "checksum"],
)
@pytest.mark.parametrize("with_backup", [False, True])
def test_torn_properties_come_back_and_are_kept_aside(tmp_path, damage, with_backup):
    storage, content = lost(tmp_path)
    torn = damage(content)
    (tmp_path / PROPERTIES).write_bytes(torn)
    if with_backup:
        (tmp_path / BACKUP).write_bytes(torn[1:])
    with pytest.raises(CorruptTableError, match="table recover"):
        HoodieTable.open(tmp_path)
    plan = planned(storage)
    assert plan.flaw
    assert (tmp_path / PROPERTIES).read_bytes() == torn, "a plan writes nothing"
    recover_properties_of(storage, SystemClock(), plan, LOCKING)
    assert HoodieTable.open(tmp_path).read().num_rows == 2
    kept = [file.read_bytes() for file in (tmp_path / ".hoodie/.quarantine/.hoodie").iterdir()]
    assert sorted(kept) == sorted([torn, torn[1:]] if with_backup else [torn])
    assert not (tmp_path / BACKUP).exists()
    with pytest.raises(ConfigError, match="not lost"):
        planned(storage)


def test_a_torn_file_shows_what_can_be_read_of_it(tmp_path):
    storage, content = lost(tmp_path)
    (tmp_path / PROPERTIES).write_bytes(content.replace(b"name=trips", b"name=other"))
    assert planned(storage).replaced.raw["hoodie.table.name"] == "other"


def test_a_file_that_was_repaired_since_the_plan_stays(tmp_path):
    storage, content = lost(tmp_path)
    (tmp_path / PROPERTIES).write_bytes(b"torn")
    plan = planned(storage)
    (tmp_path / PROPERTIES).write_bytes(content)
    with pytest.raises(ConfigError, match="have changed since"):
        recover_properties_of(storage, SystemClock(), plan, LOCKING)
    assert (tmp_path / PROPERTIES).read_bytes() == content


def test_torn_properties_beside_a_sound_backup_are_for_the_doctor(tmp_path):
    storage, content = lost(tmp_path)
    (tmp_path / PROPERTIES).write_bytes(b"torn")
    (tmp_path / BACKUP).write_bytes(content)
    with pytest.raises(ConfigError, match="hudi-services doctor"):
        planned(storage)
