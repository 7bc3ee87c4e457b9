"""Positions as commits hold them."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition, joined_position, stored_position
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress


def test_a_position_is_read_as_it_was_stored():
    stored = StoredPosition("shop/shop.o:r/d", "mysql-bin.000009:4294967295", "transactions 0-1-7,1-2-9")
    assert stored_position(stored.text, "a commit") == stored
    assert stored.place == LogPosition("mysql-bin.000009", 4294967295)


def test_another_text_is_a_damaged_table():
    right = StoredPosition("a/b.c", "x:1", "").text
    for text in ("", "{}", "[]", right.replace("x:1", "x"), right[:-1], '{"source": 1}'):
        with pytest.raises(CorruptTableError, match="in commit 7 cannot be read"):
            stored_position(text, "commit 7")


def test_tables_at_one_place_are_one_entry():
    """A thousand shards, two of which are elsewhere, and one whose snapshot is not at its end."""
    log, earlier, later = "server 1, transactions 0-1-7", "bin.000001:4", "bin.000002:99"
    names = [f"benchmark2.sbtest{number}" for number in range(1, 1001)]
    tables = {name: StoredPosition(f"shop/{name}", later, log) for name in names}
    for name in names[7], names[500]:
        tables[name] = StoredPosition(f"shop/{name}", earlier, log)
    progress = SnapshotProgress(LogPosition("bin.000002", 50), "digest", (b"1",), (b"9",), 3)
    tables["other.t"] = StoredPosition("shop/other.t", earlier, log, progress)
    stored = joined_position("shop/*", tables)
    assert stored.position == later
    assert len(stored.text) < 1_000
    assert stored_position(stored.text, "a commit") == stored


def test_a_damaged_list_of_tables_is_a_damaged_table():
    right = joined_position("a/*", {"b.c": StoredPosition("a/b.c", "x:1", "")}).text
    for text in (
        right.replace('"c"', "7"),
        right.replace("names", "name"),
        right.replace('[{"names', '[{"snapshot": 1, "names'),
    ):
        with pytest.raises(CorruptTableError):
            stored_position(text, "commit 7")
