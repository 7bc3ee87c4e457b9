"""The keys that a purge erases, kept below `.hoodie/.purge` while it is under way, so that a run after a kill knows them.

The end of a purge deletes its journal. Hudi's readers do not look there.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.feather as feather

from hoodie.services.purge.subject import KEYS, Subject
from hoodie.storage.base import Storage

FOLDER = ".hoodie/.purge"


def read_keys(storage: Storage, digest: str) -> pa.Table:
    """The keys of a purge that was cut short; none without one."""
    kept = (feather.read_table(pa.BufferReader(storage.read(path))).cast(KEYS) for path in _files(storage, digest))
    return pa.concat_tables([KEYS.empty_table(), *kept])


def keep_keys(storage: Storage, subject: Subject) -> None:
    """Keep the keys of a subject beside those of earlier runs."""
    sink = pa.BufferOutputStream()
    feather.write_feather(subject.keys, sink, compression="uncompressed")
    number = len(_files(storage, subject.digest))
    storage.create(f"{FOLDER}/{subject.digest}-{number}.arrow", sink.getvalue().to_pybytes())


def drop_keys(storage: Storage, digest: str) -> None:
    """Delete the journal of a purge."""
    for path in _files(storage, digest):
        storage.delete(path)


def _files(storage: Storage, digest: str) -> list[str]:
    return [file.path for file in storage.list(FOLDER).files if file.name.startswith(digest)]
