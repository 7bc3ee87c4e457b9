"""Things in a table that no writer makes: errors name them, never a traceback of Python's."""

from __future__ import annotations

from functools import partial

import pytest

from hoodie import CLEAN
from hoodie.errors import CorruptTableError, UnsafeDeleteError, UnsafePathError
from hoodie.storage import LocalStorage
from hoodie.timeline import parse_name
from hoodie.transaction.locks.files import LOCK
from tests.support.clock import FakeClock
from tests.support.locks import lying
from tests.support.tables import SMALL_BLOOM, batch, content, create

ROW = batch([("b", "q", 1, 1)])


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


def test_a_pending_instant_of_the_last_day_is_rolled_back(table):
    """Nothing can be dated after it: its rollback is of now."""
    table.storage.create(f"{table.state().layout.folder}/99991231235959999.commit.requested", b"")
    table.write(ROW, "insert")
    assert len(table.timeline.commits) == 2
    assert not table.timeline.pending


@pytest.mark.parametrize("time", ["9" * 17, "20261399000000000", "9" * 32, "20269999"])
def test_an_instant_that_is_no_date_is_named_when_a_new_one_must_follow(table, time):
    name = f"{table.state().layout.folder}/{time}.commit.requested"
    table.storage.create(name, b"")
    assert content(table) == {"a": ("p", 1, 1)}
    for change in (lambda: table.write(ROW, "insert"), lambda: table.run(CLEAN)):
        with pytest.raises(CorruptTableError, match=time):
            change()
    table.storage.delete(name)
    table.write(ROW, "insert")
    assert set(content(table)) == {"a", "b"}


@pytest.mark.parametrize("time", ["00000000000000000", "00000000000000", "20251399000000000", "0"])
def test_an_old_instant_that_is_no_date_is_rolled_back_as_any_other(table, time):
    table.storage.create(f"{table.state().layout.folder}/{time}.commit.requested", b"")
    table.write(ROW, "insert")
    assert set(content(table)) == {"a", "b"}
    assert table.timeline.pending == ()


@pytest.mark.parametrize("name", ["٢٠٢٦٠١٠١٠٠٠٠٠٠٠٠٠.commit.requested", "20260101000000000.commit.requested\n"])
def test_digits_of_other_scripts_and_line_ends_make_no_instant(name):
    assert parse_name(name) is None


def test_a_lock_that_is_a_folder(table):
    (table.storage._root / LOCK).mkdir()
    with pytest.raises(CorruptTableError, match=r"\.hoodie/lock .* is a folder.*remove it"):
        table.write(ROW, "insert")
    with pytest.raises(CorruptTableError, match="is a folder"):
        lying(table.storage)
    assert content(table) == {"a": ("p", 1, 1)}


@pytest.mark.parametrize("target", ["..", ".", "loop", "../..", "part=p/.."])
def test_a_link_that_leads_into_itself(table, target):
    """Followed, all partitions would be there twice, and the rows in them."""
    (table.storage._root / "x").mkdir()
    link = table.storage._root / "x" / "loop"
    link.symlink_to(target if target != "part=p/.." else "../part=p/..")
    with pytest.raises(CorruptTableError, match=r"x/loop .*leads into itself"):
        table.read()
    link.unlink()
    assert content(table) == {"a": ("p", 1, 1)}


def test_a_link_to_another_place_is_followed(tmp_path):
    (tmp_path / "disk").mkdir()
    table = create(tmp_path / "t", FakeClock())
    (tmp_path / "t" / "part=p").symlink_to(tmp_path / "disk")
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 1, 1)}
    assert LocalStorage(str(tmp_path / "t")).list("").folders == (".hoodie", "part=p")


@pytest.mark.parametrize("place", ["other/part=x", "t/x/part=x"])
@pytest.mark.parametrize("grace", [{}, {"hoodie.delete.grace.hours": 1}])
def test_nothing_is_deleted_through_a_link_into_a_table(tmp_path, place, grace):
    """Neither of another table, nor of this one by a second name."""
    create(tmp_path / "other", FakeClock())
    table = create(tmp_path / "t", FakeClock())
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / "t" / "part=p").rename(tmp_path / place)
    (tmp_path / "t" / "part=p").symlink_to(tmp_path / place)
    before = sorted((tmp_path / place).iterdir())
    with pytest.raises(
        UnsafeDeleteError, match=r"part=p.* is a link to .*part=x, which lies in table .*remove the link"
    ):
        table.run(
            CLEAN,
            {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1, **grace},
        )
    assert sorted((tmp_path / place).iterdir()) == before
    for delete in (table.storage.delete_folder, lambda folder: table.storage.sweep([folder])):
        with pytest.raises(UnsafeDeleteError):
            delete("part=p")


@pytest.mark.parametrize("place", ["other/part=x", "t/x/part=x"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert", "insert_overwrite"])
def test_nothing_is_written_through_a_link_into_a_table(tmp_path, place, kind, operation):
    """The rows would be in a second table, or in this one under two partitions."""
    create(tmp_path / "other", FakeClock())
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind})
    table.write(batch([("a", "p", 1, 1), ("c", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / "t" / "part=p").rename(tmp_path / place)
    (tmp_path / "t" / "part=p").symlink_to(tmp_path / place)
    before = sorted((tmp_path / place).iterdir())
    with pytest.raises(
        UnsafePathError, match=r"write .*part=p.* is a link to .*part=x, which lies in table .*remove the link"
    ):
        table.write(batch([("a", "p", 2, 2), ("b", "q", 2, 2)]), operation, SMALL_BLOOM)
    assert sorted((tmp_path / place).iterdir()) == before
    (tmp_path / "t" / "part=p").unlink()
    (tmp_path / place).rename(tmp_path / "t" / "part=p")
    assert content(table) == {"a": ("p", 1, 1), "c": ("q", 1, 1)}
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 2, 2), "c": ("q", 1, 1)}


@pytest.mark.parametrize("place", ["t/part=p", "t/part=q/file.parquet", "t/.hoodie/timeline/link", "t/below/part=r"])
def test_a_link_that_leads_nowhere_is_named(tmp_path, place):
    """Its rows would be missing in silence once the archive has their commit, as with a disk that is not mounted."""
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    link = tmp_path / place
    link.parent.mkdir(exist_ok=True)
    if link.exists():
        link.rename(tmp_path / "disk")
    link.symlink_to(tmp_path / "unmounted")
    rows = batch([("a", "p", 2, 2), ("b", "q", 2, 2)])
    for action in (table.read, *(partial(table.write, rows, operation) for operation in ("upsert", "bulk_insert"))):
        if action is not table.read and place == "t/below/part=r":
            continue  # no folder that the write looks at
        with pytest.raises(CorruptTableError, match=f"The link .*{link.name} .*leads nowhere.*bring that back"):
            action()
    link.unlink()
    if (tmp_path / "disk").exists():
        link.symlink_to(tmp_path / "disk")
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 1, 1)}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_that_is_a_link_into_a_table_is_not_read(tmp_path, kind):
    """It may have the size that its commit says, and the rows of another table. A link to a file elsewhere is followed."""
    own, other = (create(tmp_path / name, FakeClock(), **{"hoodie.table.type": kind}) for name in ("own", "other"))
    for table, value in ((own, 1), (other, 2)):
        table.write(batch([("a", "p", 1, value)]), "insert", SMALL_BLOOM)
    (path,), (target,) = ([tmp_path / t.base_path / s.base_file.path for s in t.file_slices()] for t in (own, other))
    whole = path.read_bytes()
    target.write_bytes(whole)  # of the size that the commit says
    path.unlink()
    path.symlink_to(target)
    for use in (own.read, lambda: own.write(batch([("a", "p", 1, 3)]), "upsert", SMALL_BLOOM)):
        with pytest.raises(CorruptTableError, match=r"is a link into a table\. Found: it leads to .*/other/part=p/"):
            use()
    (tmp_path / "disk").write_bytes(whole)
    path.unlink()
    path.symlink_to(tmp_path / "disk")
    assert content(own) == {"a": ("p", 1, 1)}


def test_the_link_of_an_editor_is_meant_to_lead_nowhere(table):
    (table.storage._root / ".#hoodie.properties").symlink_to("someone@host.1:2")
    assert content(table) == {"a": ("p", 1, 1)}
