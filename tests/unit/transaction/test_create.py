"""Several that create one table at once."""

from __future__ import annotations

from hoodie import HoodieTable
from hoodie.config.properties.store import PROPERTIES
from hoodie.storage import LocalStorage
from hoodie.transaction.create import create_table, recreate_table
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT
from tests.support.tables import OPTIONS, batch, content


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
