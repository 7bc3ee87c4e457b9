"""The keys of a purge that is under way, and what goes with them."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from hoodie.services.purge.journal import FOLDER, digest_of, drop_keys, keep_keys, read_keys
from hoodie.services.purge.leftovers import keep_leftovers, unfinished_purges
from hoodie.services.purge.subject import KEY, KEYS, PARTITION, Subject
from hoodie.storage import LocalStorage

AT = datetime(2026, 1, 1, tzinfo=UTC)


def subject(condition, *keys):
    rows = pa.table({PARTITION: ["p"] * len(keys), KEY: list(keys)}, schema=KEYS)
    return Subject(condition, pa.schema([]), rows)


def kept(storage, purge):
    return set(read_keys(storage, purge.digest)[KEY].to_pylist())


def test_keys_of_runs_are_kept_until_the_purge_has_erased_everything(tmp_path):
    storage = LocalStorage(str(tmp_path))
    one, other = subject("id = 'a'", "a"), subject("ts = 1", "a", "b")
    for purge in (one, one, other):
        keep_keys(storage, purge)
        keep_leftovers(storage, purge.digest, AT, (), 1, came_back=False)
    assert (kept(storage, one), kept(storage, other)) == ({"a"}, {"a", "b"})
    drop_keys(storage, one)
    assert (kept(storage, one), kept(storage, other)) == (set(), {"b"})
    assert [purge.digest for purge in unfinished_purges(storage)] == [other.digest]
    drop_keys(storage, subject("id = 'b'", "b"))
    assert storage.list(FOLDER).files == ()


def test_a_journal_has_no_bytes_behind_its_values(tmp_path):
    """The results of Arrow's joins have buffers that are longer than their values, with what the memory held before."""
    offsets, values = pa.array([0, 8], pa.int32()).buffers()[1], pa.py_buffer(b"other-12" + b"person-4711" + bytes(45))
    key = pa.StringArray.from_buffers(1, offsets, values)
    storage, rows = LocalStorage(str(tmp_path)), pa.table([pa.array(["p"]), key], schema=KEYS)
    keep_keys(storage, Subject("ts = 1", pa.schema([]), rows))
    (file,) = storage.list(FOLDER).files
    content = storage.read(file.path)
    assert b"other-12" in content
    assert b"person" not in content


def test_a_file_is_named_after_its_condition(tmp_path):
    storage, purge = LocalStorage(str(tmp_path)), subject("id = 'a'", "a")
    keep_keys(storage, purge)
    (file,) = storage.list(FOLDER).files
    assert digest_of(file.path) == purge.digest
