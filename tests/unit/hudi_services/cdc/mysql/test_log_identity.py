"""Positions as commits hold them."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError
from hudi_services.cdc.mysql.log_identity import StoredPosition, stored_position
from hudi_services.cdc.mysql.position import LogPosition


def test_a_position_is_read_as_it_was_stored():
    stored = StoredPosition("shop/shop.o:r/d", "mysql-bin.000009:4294967295", "transactions 0-1-7,1-2-9")
    assert stored_position(stored.text, "a commit") == stored
    assert stored.place == LogPosition("mysql-bin.000009", 4294967295)


def test_another_text_is_a_damaged_table():
    right = StoredPosition("a/b.c", "x:1", "").text
    for text in ("", "{}", "[]", right.replace("x:1", "x"), right[:-1], '{"source": 1}'):
        with pytest.raises(CorruptTableError, match="in commit 7 cannot be read"):
            stored_position(text, "commit 7")
