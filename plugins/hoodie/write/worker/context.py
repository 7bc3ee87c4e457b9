"""Context of the tasks of a write. Frozen and picklable: it travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.operations import Operation
from hoodie.formats.file_format import FileFormat
from hoodie.formats.log.change_writer import ChangeBlocks
from hoodie.keygen import PartitionPaths, RecordKeys, StoredKeys
from hoodie.merge import IDENTITY, MergeRules
from hoodie.schema.history import StoredColumns
from hoodie.transaction.data_file import OpenDataFile


@dataclass(frozen=True)
class WriteContext:
    """One write. `schema` holds the columns that incoming rows are brought to: for a delete only those that find them."""

    writing: OpenDataFile
    file: FileFormat
    schema: pa.Schema
    keys: RecordKeys
    paths: PartitionPaths
    stored_keys: StoredKeys
    rules: MergeRules  # those of the table; for a delete by key those under which the later write always wins
    operation: Operation
    looks_up: bool  # stored keys are looked for
    global_keys: bool  # keys are unique in the table; otherwise in each partition
    deletions: str | None  # column of the incoming rows, true for deletions, that is not stored
    allow_duplicates: bool  # rows of an insert leave stored rows of their key alone
    bucketed: bool  # the file of a row follows from its key
    record_positions: bool  # logs have the positions of their rows in the base file
    max_file_bytes: int
    changes: ChangeBlocks | None  # how changes of rewritten base files are logged; None: they are not
    columns: StoredColumns  # what files of other times call them
    spill_folder: str  # local folder of a worker for rows put aside, empty: the system's for temporary files

    @property
    def deletes_by_key(self) -> bool:
        """The operation is a delete: every incoming row removes its key."""
        return self.operation.deletes

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns by which rows are the same row of the table."""
        return IDENTITY[:1] if self.global_keys else IDENTITY

    @property
    def adds_only(self) -> bool:
        """Rows that go to a base file are added to it, next to any equal keys (`hoodie.merge.allow.duplicate.on.inserts`)."""
        return self._packs_new_rows and self.allow_duplicates

    @property
    def merges_inserts(self) -> bool:
        """An insert does as an upsert in the base files that its rows go to."""
        return self._packs_new_rows and not self.allow_duplicates

    @property
    def _packs_new_rows(self) -> bool:
        """Rows go to files that hold others, whose keys the write has not read."""
        added = not self.operation.finds_keys and self.operation.replaces is None
        return added and (self.operation.packs or self.bucketed)
