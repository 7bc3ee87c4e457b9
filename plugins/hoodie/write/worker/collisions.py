"""Rows that only share the text of their record key: Hudi escapes nothing in a key of several columns. Runs in the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.index.live_keys import StoredRows
from hoodie.keygen import RecordKeys
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.schema import conform, top_level


def refuse_colliding(keys: RecordKeys, rows: pa.Table, identity: Sequence[str]) -> None:
    """Raises RecordKeyError when two rows of the same `identity` only share the text of their keys.

    Combined, one of them would be lost, and of two that are inserted the next upsert would update both.
    """
    colliding = keys.colliding(rows, [rows[name] for name in identity if name != RECORD_KEY])
    if pc.any(colliding).as_py():
        raise _error(keys, rows[RECORD_KEY].filter(colliding)[0].as_py(), f"in {pc.sum(colliding).as_py()} rows")


@dataclass(frozen=True)
class StoredCollisions:
    """Compares incoming rows with the stored ones that they would update or delete. `stored` has the columns of the keys."""

    keys: RecordKeys
    stored: StoredRows

    def refuse(self, file_slice: FileSlice, rows: pa.Table) -> None:
        """Raises RecordKeyError when the slice holds a row that only shares the text of its key with one of `rows`.

        Reads the slice only where other values could have the key of a row (`RecordKeys.mistakable`), which is rare.
        """
        unsure = rows.filter(self.keys.mistakable(rows, rows[RECORD_KEY]))
        if not unsure.num_rows:
            return
        names = [RECORD_KEY, *top_level(self.keys.fields)]
        unsure = conform(unsure.select(names), pa.schema([self.stored.result.field(name) for name in names]))
        unsure_keys = pc.unique(unsure[RECORD_KEY])
        for batch, _ in self.stored.batches(file_slice):
            same = batch.filter(pc.is_in(batch[RECORD_KEY], value_set=unsure_keys)).select(names)
            both = pa.concat_tables([unsure, same])
            colliding = self.keys.colliding(both)
            if same.num_rows and pc.any(colliding).as_py():
                raise _error(
                    self.keys, both[RECORD_KEY].filter(colliding)[0].as_py(), f"in file group {file_slice.file_id}, too"
                )


def _error(keys: RecordKeys, key: str, where: str) -> RecordKeyError:
    return RecordKeyError(
        f"Rows with different values of {', '.join(keys.fields)} have one record key",
        found=f"{key!r:.200} {where}; Hudi's keys of several columns escape nothing",
        fix="change these values or drop the rows: a table can hold one row of a key; ingestion can quarantine them. If an "
        "insert has stored both, write their partition again by insert_overwrite, without one of them",
    )
