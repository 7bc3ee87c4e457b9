"""Copies of tables that were begun before."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.properties.store import COPYING, PROPERTIES
from hoodie.errors import CorruptTableError
from hoodie.services.relocation.copy import plan_copy, run_copy
from hoodie.services.relocation.marks import CopyMark
from hoodie.storage import LocalStorage
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
    target.create("part=gone/old.parquet", b"of a file that a clean has deleted")
    target.create(".hoodie/.consumers/x.json", b"{}")
    assert plan_copy(source, target, SystemClock(), SHARING).begun
    run_copy(source, target, SystemClock(), NO_WAIT, SHARING)
    assert content(HoodieTable.open(target.base_path)) == {"a": ("p", 1, 1)}
    assert target.info("part=gone/old.parquet") is None
    assert target.info(COPYING) is None


def test_a_complete_copy_that_differs_is_not_touched(places):
    source, target = places
    CopyMark(source.base_path, is_move=True).write(target)
    target.create(PROPERTIES, source.read(PROPERTIES))
    with pytest.raises(CorruptTableError, match="files that differ"):
        run_copy(source, target, SystemClock(), NO_WAIT, SHARING, is_move=True)
    assert source.info(PROPERTIES) is not None
