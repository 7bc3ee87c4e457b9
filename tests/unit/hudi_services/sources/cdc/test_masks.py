"""Masks of columns, in rows and in images of changes."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.masks import NO_MASKS, Masks

MASKS = Masks({"email": "hash", "name": "mask", "age": "mask", "card": "drop", "seen": "hash"}, "pepper")
SCHEMA = pa.schema(
    {
        "id": pa.int32(),
        "email": pa.string(),
        "name": pa.string(),
        "age": pa.int32(),
        "card": pa.binary(),
        "seen": pa.timestamp("us"),
    }
)
ROWS = [
    {"id": 1, "email": "a@b", "name": "Ann", "age": 7, "card": b"1", "seen": datetime(2026, 1, 2)},
    {"id": 2, "email": None, "name": None, "age": None, "card": None, "seen": None},
    {"id": 3, "email": "a@b", "name": "", "age": 0, "card": b"", "seen": datetime(2026, 1, 2)},
]
HASH = sha256(b"6:pepper:a@b").hexdigest()
SEEN = sha256(b"6:pepper:2026-01-02 00:00:00.000000").hexdigest()
MASKED = [
    {"id": 1, "email": HASH, "name": "***", "age": None, "seen": SEEN},
    {"id": 2, "email": None, "name": None, "age": None, "seen": None},
    {"id": 3, "email": HASH, "name": "***", "age": None, "seen": SEEN},
]


def test_rows():
    masked = MASKS.batch(pa.RecordBatch.from_pylist(ROWS, SCHEMA))
    assert masked.to_pylist() == MASKED
    assert masked.schema == MASKS.schema(SCHEMA)
    assert MASKS.batch(pa.RecordBatch.from_pylist([], SCHEMA)).num_rows == 0
    plain = pa.RecordBatch.from_pylist(ROWS, SCHEMA)
    assert NO_MASKS.batch(plain) is plain


def test_images_that_are_null_stay_null():
    kind = pa.struct(list(SCHEMA))
    images = pa.chunked_array([pa.array([ROWS[0], None], kind), pa.array([], kind), pa.array([ROWS[2]], kind)])
    assert MASKS.images(images).to_pylist() == [MASKED[0], None, MASKED[2]]
    assert MASKS.images(images.slice(1, 1)).to_pylist() == [None]
    assert MASKS.images(images.slice(2)).to_pylist() == [MASKED[2]]


def test_another_secret_makes_other_hashes_and_no_text_shows_it():
    other = Masks({"email": "hash"}, "salt")
    assert other.batch(pa.RecordBatch.from_pylist(ROWS, SCHEMA)).column("email")[0].as_py() != HASH
    assert "salt" not in repr(other)


def test_wrong_columns_and_keys_are_refused():
    MASKS.check(SCHEMA.names, ["id", "email"], "shop.t")
    with pytest.raises(ConfigError, match="has no column 'Name' to mask"):
        Masks({"Name": "mask"}).check(SCHEMA.names, ["id"], "shop.t")
    for mask in ("mask", "drop"):
        with pytest.raises(ConfigError, match=r"'id' is a part of the key of shop\.t"):
            Masks({"id": mask}).check(SCHEMA.names, ["id"], "shop.t")


def test_only_some_columns_are_loaded():
    chosen = Masks({"email": "mask"}, of_many=True, only=frozenset(["id", "email", "seen"]))
    rows = pa.RecordBatch.from_pylist(ROWS, pa.schema([SCHEMA.field("id").with_name("ID"), *list(SCHEMA)[1:]]))
    assert chosen.batch(rows).schema.names == ["ID", "email", "seen"]
    assert chosen.images(pa.chunked_array([rows.to_struct_array()])).to_pylist()[1] == {
        "ID": None,
        "email": None,
        "seen": None,
    }
    assert chosen.text != Masks({"email": "mask"}, of_many=True).text
    assert Masks(only=frozenset(["id"])).text
    chosen.check(SCHEMA.names, ["id"], "shop.t")
    with pytest.raises(ConfigError, match=r"'age' is a part of the key of shop\.t, and `columns` does not have it"):
        chosen.check(SCHEMA.names, ["id", "age"], "shop.t")
    with pytest.raises(ConfigError, match="no column 'ages' to load"):
        Masks(only=frozenset(["id", "ages"])).check(SCHEMA.names, ["id"], "shop.t")
