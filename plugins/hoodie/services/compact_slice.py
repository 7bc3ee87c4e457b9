"""Merging one slice into its next base file. Runs in the workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from hoodie.formats.base_file import BaseFileOptions, BaseFileWriter, KeyIndex, next_key_index
from hoodie.formats.stitched import open_base_file
from hoodie.markers import MarkerType, create_marker
from hoodie.merge import BaseMerger
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import FILE_NAME, RECORD_KEY
from hoodie.model.names import BaseFileName
from hoodie.read.logs import LogReader
from hoodie.schema import conform
from hoodie.storage.base import join


@dataclass(frozen=True)
class CompactSlice:
    """Task function: (number, slice) -> stat of the new base file.

    Records keep their commit time and sequence number (`hoodie.compaction.preserve.commit.metadata`, always on as in Hudi 1.x).
    Memory holds the merged logs of one slice and a batch of its base file.
    """

    logs: LogReader  # of the columns in `schema`; the file name, which rows do not keep, may be left out
    instant: str
    schema: pa.Schema  # of the file, with meta columns
    avro_schema: str
    options: BaseFileOptions
    write_token: Callable[[int], str]

    def __call__(self, task: tuple[int, FileSlice]) -> WriteStat:
        number, file_slice = task
        begun = time.monotonic()
        storage = self.logs.storage
        name = str(BaseFileName(file_slice.file_id, self.write_token(number), self.instant))
        path = join(file_slice.partition, name)
        create_marker(storage, self.instant, path, MarkerType.MERGE)
        updated = deleted = 0
        known: KeyIndex | None = None
        keys: list[pa.ChunkedArray] = []
        with storage.open_output(path) as sink:
            writer = BaseFileWriter(sink, self.schema, self.avro_schema, self.options, {FILE_NAME: name})
            schema = writer.rows_schema
            rules = self.logs.rules
            merger = BaseMerger(self.logs.rows(file_slice), schema.names, rules.base_ordering, rules.partial)
            if file_slice.base_file is not None:
                with open_base_file(storage, file_slice.base_file) as reader:
                    known = reader.key_index()
                    for batch in reader.batches(schema.names):
                        merged = merger.merge(conform(batch, schema))
                        updated, deleted = updated + merged.updated, deleted + merged.deleted
                        if known is None:
                            keys.append(merged.rows[RECORD_KEY])
                        writer.write(conform(merged.rows, schema))
            inserts = conform(merger.inserts(), schema)
            writer.write(inserts)
            writer.finish(next_key_index(known, [*keys, inserts[RECORD_KEY]], self.options))
        info = storage.info(path)
        base = file_slice.base_file
        return WriteStat(
            file_slice.file_id,
            path,
            file_slice.partition,
            prev_commit=file_slice.base_instant,
            prev_base_file=base.name if base else None,
            num_writes=writer.rows,
            num_inserts=inserts.num_rows,
            num_updates=updated,
            num_deletes=deleted,
            file_size=info.size if info else 0,
            upsert_ms=int((time.monotonic() - begun) * 1000),
        )
