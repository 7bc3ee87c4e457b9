"""The subject of a purge: its columns, values and keys."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ArgumentError, UnsupportedTableError
from hoodie.services.purge.subject import KEYS, Subject, subject_of, united
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

SCHEMA = pa.schema([("id", pa.string()), ("age", pa.int64()), ("city", pa.string())])


def subject(condition, keys=()):
    return Subject(condition, SCHEMA, pa.Table.from_pylist([{"partition": p, "key": k} for p, k in keys], KEYS))


def test_columns_values_and_texts():
    one = subject("ID = 'anna-1' and age in (4711, 42) and city like 'B%'", [("p", "k-1"), ("q", "key-2")])
    assert one.columns.names == ["id", "age", "city"]
    assert one.values == {"anna-1", "4711", "42", "k-1", "key-2"}
    assert one.texts == ("4711", "anna-1", "key-2")
    assert one.unsearched == 2
    assert one.keys_of("p").to_pylist() == ["k-1"]
    assert one.digest == subject("ID = 'anna-1' and age in (4711, 42) and city like 'B%'").digest
    assert "anna" not in one.digest


def test_keys_are_united():
    tables = [subject("age = 1", keys).keys for keys in ([("q", "b"), ("p", "a")], [("p", "a")])]
    assert united(iter(tables)).to_pylist() == [{"partition": "p", "key": "a"}, {"partition": "q", "key": "b"}]


def test_what_cannot_be_purged(tmp_path):
    empty = create(tmp_path / "empty", FakeClock())
    with pytest.raises(UnsupportedTableError):
        subject_of(empty.state(), "id = 'a'")
    generated = create(tmp_path / "generated", FakeClock(), **{"hoodie.table.recordkey.fields": ""})
    generated.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    with pytest.raises(UnsupportedTableError) as failed:
        subject_of(generated.state(), "id = 'a'")
    assert "generated keys" in str(failed.value)
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    for condition in ("name = 'a'", "id ="):
        with pytest.raises(ArgumentError):
            subject_of(table.state(), condition)
