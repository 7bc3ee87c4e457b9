"""The keys that a purge erases, kept below `.hoodie/.purge` while it is under way, so that a run after a kill knows them.

A run that erases everything deletes its journal, and its keys in journals of other conditions. Hudi's readers do not look there.
"""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from hoodie.services.purge.subject import KEYS, Subject
from hoodie.storage.base import Storage

FOLDER = ".hoodie/.purge"
_ENDING = ".arrow"


def read_keys(storage: Storage, digest: str) -> pa.Table:
    """The keys of a purge that was cut short, or could not erase everything; empty without one."""
    return pa.concat_tables([KEYS.empty_table(), *(_read(storage, path) for path in _files(storage, digest))])


def keep_keys(storage: Storage, subject: Subject) -> None:
    """Keep the keys of a subject, those of its earlier runs among them."""
    _replace(storage, subject.digest, subject.keys, _files(storage, subject.digest))


def drop_keys(storage: Storage, subject: Subject) -> None:
    """Delete the journal of a purge that has erased everything, and its keys in those of other conditions. The holders that its
    runs have met (`leftovers`) go with the last key of a journal."""
    changed = {subject.digest}
    for path in _files(storage, subject.digest):
        storage.delete(path)
    for path in _files(storage, ""):
        keys = _read(storage, path)
        remaining = keys.join(subject.keys, KEYS.names, join_type="left anti").select(KEYS.names)
        if remaining.num_rows < keys.num_rows:
            _replace(storage, digest_of(path), remaining, [path])
            changed.add(digest_of(path))
    present = [file.path for file in storage.list(FOLDER).files]
    erased = changed - {digest_of(path) for path in present if path.endswith(_ENDING)}
    for path in present:
        if digest_of(path) in erased:
            storage.delete(path)


def digest_of(path: str) -> str:
    """The digest of the condition that a file of the folder belongs to."""
    return path.rpartition("/")[2].partition("-")[0]


def _read(storage: Storage, path: str) -> pa.Table:
    return feather.read_table(pa.BufferReader(storage.read(path))).cast(KEYS)


def _replace(storage: Storage, digest: str, keys: pa.Table, earlier: list[str]) -> None:
    """Write a journal before the `earlier` ones go, so that a kill loses no key.

    The buffers of a join end in memory that was in use before, and Arrow writes up to 63 bytes of it. A copy by `take` has
    buffers that end with their values.
    """
    if keys.num_rows:
        keys = keys.take(np.arange(keys.num_rows))
        sink = pa.BufferOutputStream()
        feather.write_feather(keys, sink, compression="uncompressed")
        storage.create(f"{FOLDER}/{digest}-{uuid4().hex}{_ENDING}", sink.getvalue().to_pybytes())
    for path in earlier:
        storage.delete(path)


def _files(storage: Storage, digest: str) -> list[str]:
    files = storage.list(FOLDER).files
    return [file.path for file in files if file.name.startswith(digest) and file.name.endswith(_ENDING)]
