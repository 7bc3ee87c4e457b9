"""The mark of an upgrade that has begun."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.model.time import Time
from hoodie.services.upgrade.marks import MARK, UpgradeMark, read_mark
from hoodie.storage import LocalStorage


def test_it_is_read_as_it_was_written(tmp_path):
    storage = LocalStorage(str(tmp_path))
    assert read_mark(storage) is None
    mark = UpgradeMark(6, 9, Time.of("20260101000000001"), ("20260101000000001.commit",))
    mark.write(storage)
    assert read_mark(storage) == mark


def test_a_torn_one_and_one_that_leads_elsewhere_are_refused(tmp_path):
    storage = LocalStorage(str(tmp_path))
    storage.create(MARK, b'{"version": 6')
    with pytest.raises(CorruptTableError, match=r"upgrade\.json"):
        read_mark(storage)
    storage.delete(MARK)
    UpgradeMark(6, 9, Time.of("1"), ("../lock",)).write(storage)
    with pytest.raises(UnsafePathError):
        read_mark(storage)
