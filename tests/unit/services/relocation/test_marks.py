"""Marks of tables that are not readable."""

from __future__ import annotations

import pytest

from hoodie.config.properties.store import BACKUP, COPYING, DROPPED, PROPERTIES
from hoodie.errors import TableExistsError, TableNotFoundError
from hoodie.services.relocation.marks import CopyMark, is_retired, read_copy_mark, retire
from hoodie.storage import LocalStorage
from tests.support.tables import create


def test_a_retired_table_is_not_read_even_by_its_backup(tmp_path):
    table = create(tmp_path / "t")
    storage = LocalStorage(str(tmp_path / "t"))
    storage.create(BACKUP, storage.read(PROPERTIES))
    storage.create(DROPPED, b"of an earlier table")
    whole = storage.read(PROPERTIES)
    for _ in range(2):
        retire(storage, DROPPED)
        assert is_retired(storage, DROPPED)
        assert storage.read(DROPPED) == whole
    with pytest.raises(TableNotFoundError, match="drop"):
        table.state()


def test_a_copy_of_another_table_is_not_gone_on_with(tmp_path):
    storage = LocalStorage(str(tmp_path))
    mark = CopyMark("/lake/orders", is_move=False)
    assert read_copy_mark(storage) is None
    for _ in range(2):
        mark.write(storage)
        assert read_copy_mark(storage) == mark
    for other in (CopyMark("/lake/orders", is_move=True), CopyMark("/lake/users", is_move=False)):
        with pytest.raises(TableExistsError, match="another copy has begun"):
            other.write(storage)
    assert storage.delete(COPYING)
