"""Rows that wait in files for their write: all of them come back, and no file stays for ever."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hoodie.spark import staging
from hoodie.spark.sink_options import WriteRequest
from hoodie.storage import storage_of

pytestmark = pytest.mark.spark

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROWS = pa.table({"id": ["a", "b", "c", "d"], "n": [1, 2, None, 4], "w": [1.5, None, 2.5, 3.5]})
OPERATION = "hoodie.datasource.write.operation"
COMBINE = "hoodie.combine.before.insert"


def read(splits):
    return pa.Table.from_batches([batch for split in splits for batch in pickle.loads(pickle.dumps(split)).batches()])


def test_all_rows_come_back(tmp_path, monkeypatch):
    storage = storage_of(tmp_path)
    batches = ROWS.to_batches(max_chunksize=1)
    assert read(staging.stage(storage, staging.new_folder(NOW), batches, ROWS.schema)).equals(ROWS)
    monkeypatch.setattr(staging, "_FILE_BYTES", 2 * batches[0].nbytes)
    splits = staging.stage(storage, staging.new_folder(NOW), batches, ROWS.schema)
    assert len(splits) > 1
    assert sum(split.size for split in splits) == sum(batch.nbytes for batch in batches)
    assert read(splits).equals(ROWS)
    assert read([split.narrowed(["w", "id"]) for split in splits]).select(["w", "id"]).equals(ROWS.select(["w", "id"]))
    assert staging.stage(storage, staging.new_folder(NOW), [], ROWS.schema) == []


def test_a_file_is_whole_or_not_there(tmp_path):
    def fail():
        yield from ROWS.to_batches()
        raise OSError("lost")

    with pytest.raises(OSError, match="lost"):
        staging.stage(storage_of(tmp_path), staging.new_folder(NOW), fail(), ROWS.schema)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_torn_file_is_not_taken_for_a_shorter_one(tmp_path):
    (split,) = staging.stage(
        storage_of(tmp_path), staging.new_folder(NOW), ROWS.to_batches(max_chunksize=1), ROWS.schema
    )
    file = tmp_path / split.path
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(pa.ArrowInvalid):
        read([split])


def test_only_what_is_old_is_removed(tmp_path):
    storage = storage_of(tmp_path)
    old, young = (staging.new_folder(NOW - staging.KEPT_FOR + timedelta(minutes=minutes)) for minutes in (-1, 1))
    for folder in (old, young, ".hoodie/.staged/other"):
        storage.create(f"{folder}/x", b"")
    staging.remove_old(storage, NOW)
    assert sorted(storage.list(".hoodie/.staged").folders) == sorted([young, ".hoodie/.staged/other"])
    staging.remove(storage, young)
    assert storage.list(".hoodie/.staged").folders == (".hoodie/.staged/other",)


@pytest.mark.parametrize(
    ("given", "overwrite", "operation", "options"),
    [
        ({}, False, "upsert", {}),
        ({OPERATION: "bulk_insert", "hoodie.table.name": "t"}, False, "bulk_insert", {"hoodie.table.name": "t"}),
        ({}, True, "insert_overwrite_table", {COMBINE: "true"}),
        ({COMBINE: "false"}, True, "insert_overwrite_table", {COMBINE: "false"}),
        ({OPERATION: "bulk_insert"}, True, "insert_overwrite_table", {}),
        ({OPERATION: "insert_overwrite"}, True, "insert_overwrite", {}),
    ],
)
def test_what_mode_and_options_ask(given, overwrite, operation, options):
    assert WriteRequest.of({"path": "/t", **given}, overwrite) == WriteRequest("/t", operation, options)


@pytest.mark.parametrize("given", [{}, {"path": ""}, {"path": "/t", OPERATION: "merge"}])
def test_what_nobody_can_ask(given):
    with pytest.raises(ConfigError):
        WriteRequest.of(given, False)
