"""What every task of a write knows. Frozen and picklable: it travels to the workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from hoodie.formats.base_file import BaseFileOptions
from hoodie.keygen import PartitionPaths, RecordKeys, StoredKeys
from hoodie.merge import MergeRules
from hoodie.storage.base import Storage


@dataclass(frozen=True)
class WriteContext:
    """One write. `schema` holds the data columns as the table will have them, `file_schema` the meta columns before them."""

    storage: Storage
    instant: str
    inflight: str  # path of its inflight file: there as long as the write may still be committed
    table_name: str
    schema: pa.Schema
    file_schema: pa.Schema
    avro_schema: str  # of file_schema
    keys: RecordKeys
    paths: PartitionPaths
    stored_keys: StoredKeys
    rules: MergeRules  # of the table; for a delete by key those under which the later write always wins
    deletes_by_key: bool  # the operation is a delete: every incoming row removes its key
    record_positions: bool  # logs tell where their rows stand in the base file
    max_file_bytes: int
    base_file: BaseFileOptions
    spill_folder: str  # local folder of a worker for rows put aside, empty: the system's for temporary files
    write_token: Callable[[int], str]
