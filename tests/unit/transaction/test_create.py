"""Several that create one table at once."""

from __future__ import annotations

from shutil import rmtree

import pytest

from hoodie import HoodieTable
from hoodie.config.properties.store import BACKUP, PROPERTIES
from hoodie.errors import TableExistsError
from hoodie.storage import LocalStorage
from hoodie.transaction.create import create_table, recreate_table
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT
from tests.support.tables import OPTIONS, batch, content, create


def test_one_takes_the_table_up_before_its_creator_is_done(tmp_path):
    clock = FakeClock()

    class Slow(LocalStorage):
        def create(self, path, data):
            super().create(path, data)
            if path == PROPERTIES:
                recreate_table(LocalStorage(self.base_path), clock, OPTIONS, {}, NO_WAIT)

    storage = Slow(str(tmp_path / "t"))
    create_table(storage, OPTIONS, None)
    table = HoodieTable.open(storage.base_path, clock=clock)
    table.write(batch([("a", "p", 1, 1)]))
    assert content(table) == {"a": ("p", 1, 1)}


@pytest.mark.parametrize("version", ["6", "9"])
def test_nothing_is_created_over_a_table_whose_properties_are_being_replaced(tmp_path, version):
    """Its folders do not show it: it has no rows."""
    create(tmp_path / "t", **{"hoodie.write.table.version": version})
    (tmp_path / "t" / PROPERTIES).rename(tmp_path / "t" / BACKUP)
    with pytest.raises(TableExistsError, match=r"properties\.backup"):
        create(tmp_path / "t", **{"hoodie.table.recordkey.fields": "value"})
    assert HoodieTable.open(tmp_path / "t").properties.record_key_fields == ("id",)


def test_nothing_is_created_over_instants(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    table.truncate()
    rmtree(tmp_path / "t" / "part=p")
    (tmp_path / "t" / PROPERTIES).unlink()
    with pytest.raises(TableExistsError, match="timeline/"):
        create(tmp_path / "t")
