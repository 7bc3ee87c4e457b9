"""Copies of tables that were begun before."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.properties.store import COPYING, PROPERTIES
from hoodie.errors import CorruptTableError, TableExistsError
from hoodie.services.relocation.copy import plan_copy, run_copy
from hoodie.services.relocation.marks import CopyMark
from hoodie.storage import LocalStorage, open_storage
from hoodie.storage.remote import FsspecStorage
from tests.support.locks import NO_WAIT
from tests.support.tables import batch, content, create
from tests.unit.services.relocation.test_obstacles import SHARING


@pytest.fixture
def places(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    return LocalStorage(str(tmp_path / "t")), LocalStorage(str(tmp_path / "u"))


def test_a_copy_goes_on_with_the_table_as_it_is_now(places):
    source, target = places
    CopyMark(source.base_path, is_move=False).write(target)
    target.create("part=gone/aaaa-0_0-1-2_20260101000000000.parquet", b"of a file that a clean has deleted")
    target.create(".hoodie/.consumers/x.json", b"{}")
    assert plan_copy(source, target, SystemClock(), SHARING).continued
    run_copy(source, target, SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(target.base_path)) == {"a": ("p", 1, 1)}
    assert target.info("part=gone/aaaa-0_0-1-2_20260101000000000.parquet") is None
    assert target.info(COPYING) is None


def test_a_complete_copy_that_differs_is_not_touched(places):
    source, target = places
    CopyMark(source.base_path, is_move=True).write(target)
    target.create(PROPERTIES, source.read(PROPERTIES))
    with pytest.raises(CorruptTableError, match="files that differ"):
        run_copy(source, target, SystemClock(), NO_WAIT, SHARING, is_move=True)
    assert source.info(PROPERTIES) is not None


def test_files_of_others_at_the_place_of_a_begun_copy_stay(places):
    source, target = places
    CopyMark(source.base_path, is_move=False).write(target)
    for path in ("customers.csv", "inner/.hoodie/hoodie.properties"):
        target.create(path, b"of others")
        with pytest.raises(TableExistsError, match=path):
            run_copy(source, target, SystemClock(), NO_WAIT, SHARING)
        target.delete(path)
    run_copy(source, target, SystemClock(), NO_WAIT, SHARING)


def test_a_place_inside_another_table_is_refused(places, tmp_path):
    create(tmp_path / "other")
    with pytest.raises(TableExistsError, match="whose drop would delete it"):
        plan_copy(places[0], LocalStorage(str(tmp_path / "other" / "deep" / "u")), SystemClock(), SHARING)


def refused(source, target):
    with pytest.raises(TableExistsError) as caught:
        plan_copy(open_storage(source), open_storage(target), SystemClock(), SHARING)
    return caught.value.what


@pytest.mark.process
def test_places_of_urls_that_lie_in_tables(s3):
    """Spelled in any way: a drop of the outer table would delete the inner one."""
    lake = s3.bucket()
    bucket = lake.removeprefix("s3://")
    for name in ("t", "other"):
        create(f"{lake}/{name}").write(batch([("a", "p", 1, 1)]))
    for place in (f"{lake}/t", f"{lake}/t/deep/below", f"s3a://{bucket}/t/below", f"s3a://{bucket}/x/../t/", lake):
        assert "lie in each other" in refused(f"{lake}/t", place)
    for place in (f"{lake}/other/below", f"s3a://{bucket}/other/part=p/x/y", f"s3://{bucket}//other/z"):
        assert f"lies in the table s3://{bucket}/other" in refused(f"{lake}/t", place)
    assert refused(f"{lake}/t", f"{lake}/other").startswith("There are files at")
    target = open_storage(f"{lake}/folder/copy")
    run_copy(open_storage(f"s3a://{bucket}/t"), target, SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(target.base_path)) == {"a": ("p", 1, 1)}


def test_a_folder_around_that_nobody_may_look_at_is_no_table(places, monkeypatch):
    source, _ = places
    url = f"memory://lake{id(source)}"
    look = FsspecStorage.info

    def denied(storage, path):
        if storage.base_path == url:
            raise PermissionError(url)
        return look(storage, path)

    monkeypatch.setattr(FsspecStorage, "info", denied)
    target = open_storage(f"{url}/copy")
    run_copy(source, target, SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(target.base_path)) == {"a": ("p", 1, 1)}
    assert "lies in the table" in refused(source.base_path, f"{url}/copy/below")
