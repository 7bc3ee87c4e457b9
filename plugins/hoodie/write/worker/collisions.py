"""Rows that only share the text of their record key, or their partition path: Hudi escapes nothing in those of several columns.

Runs in the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.index.live_keys import StoredRows
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import conform, top_level


def refuse_colliding(keys: RecordKeys, paths: PartitionPaths, rows: pa.Table, identity: Sequence[str]) -> None:
    """Raises RecordKeyError when two rows of the same `identity` only share the text of their keys, or only their path.

    Combined, one of them would be lost, and of two that are inserted the next upsert would update both.
    """
    colliding = keys.colliding(rows, [rows[name] for name in identity if name != RECORD_KEY])
    if pc.any(colliding).as_py():
        raise _key_error(keys, rows[RECORD_KEY].filter(colliding)[0].as_py(), f"in {pc.sum(colliding).as_py()} rows")
    if PARTITION_PATH in identity:
        colliding = paths.colliding(rows, [rows[RECORD_KEY]])
        if pc.any(colliding).as_py():
            raise _path_error(paths, rows.filter(colliding), f"in {pc.sum(colliding).as_py()} rows")


@dataclass(frozen=True)
class StoredCollisions:
    """Compares incoming rows with the stored ones that they would update or delete. `stored` has the columns of the keys, and
    those of `paths` where these count: where a row of the table is named by its key and its partition."""

    keys: RecordKeys
    paths: PartitionPaths | None
    stored: StoredRows

    def refuse(self, file_slice: FileSlice, rows: pa.Table) -> None:
        """Raises RecordKeyError when the slice holds a row that only shares the text of its key, or its path, with one of `rows`.

        Reads the slice only where other values could have the key or the path of a row (`mistakable`), which is rare.
        """
        unsure = self.keys.mistakable(rows, rows[RECORD_KEY])
        if self.paths is not None:
            unsure = pc.or_(unsure, self.paths.mistakable(rows))
        rows = rows.filter(unsure)
        if not rows.num_rows:
            return
        fields = (*self.keys.fields, *(self.paths.fields if self.paths is not None else ()))
        names = [RECORD_KEY, *top_level(fields)]
        rows = conform(rows.select(names), pa.schema([self.stored.result.field(name) for name in names]))
        row_keys, where = pc.unique(rows[RECORD_KEY]), f"in file group {file_slice.file_id}, too"
        for batch, _ in self.stored.batches(file_slice):
            same = batch.filter(pc.is_in(batch[RECORD_KEY], value_set=row_keys)).select(names)
            if not same.num_rows:
                continue
            both = pa.concat_tables([rows, same])
            colliding = self.keys.colliding(both)
            if pc.any(colliding).as_py():
                raise _key_error(self.keys, both[RECORD_KEY].filter(colliding)[0].as_py(), where)
            if self.paths is not None:
                colliding = self.paths.colliding(both, [both[RECORD_KEY]])
                if pc.any(colliding).as_py():
                    raise _path_error(self.paths, both.filter(colliding), where)


def _path_error(paths: PartitionPaths, rows: pa.Table, where: str) -> RecordKeyError:
    return RecordKeyError(
        f"Rows with one record key and different values of {', '.join(paths.fields)} have one partition path",
        found=f"key {rows[RECORD_KEY][0].as_py()!r:.100}, path {paths.of(rows.slice(0, 1))[0].as_py()!r:.200} {where}; Hudi's "
        "paths escape no slash",
        fix="change these values, or load into a table with hoodie.datasource.write.partitionpath.urlencode=true; ingestion "
        "can quarantine them",
    )


def _key_error(keys: RecordKeys, key: str, where: str) -> RecordKeyError:
    return RecordKeyError(
        f"Rows with different values of {', '.join(keys.fields)} have one record key",
        found=f"{key!r:.200} {where}; Hudi's keys of several columns escape nothing",
        fix="change these values or drop the rows: a table can hold one row of a key; ingestion can quarantine them. If an "
        "insert has stored both, write their partition again by insert_overwrite, without one of them",
    )
