"""Writing skeleton files: the meta columns of a source file's rows, in their order (format notes, section 10)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from hoodie.errors import CorruptFileError
from hoodie.formats.file_format import FileFormat
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.model.commit import WriteStat
from hoodie.model.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from hoodie.schema.meta import META_FIELDS
from hoodie.services.bootstrap.check import check_folder
from hoodie.services.bootstrap.source import SourceSplit
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.base_file import RowsFile
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.rows import chunks

_AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "HoodieRecordKey",
        "doc": "",
        "fields": [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_COLUMNS],
    }
)


@dataclass(frozen=True)
class SkeletonTask:
    """One file to write: its number in the bootstrap, its file id, and where the rows are."""

    number: int
    file_id: str
    folder: str
    rows: int
    source: SourceSplit  # only key and partition columns


@dataclass(frozen=True)
class WriteSkeletons:
    """Task function: some files -> their stats. Memory holds a chunk of keys."""

    context: WriteContext

    def __call__(self, tasks: Sequence[SkeletonTask]) -> list[WriteStat]:
        return [self._write(task) for task in tasks]

    def _write(self, task: SkeletonTask) -> WriteStat:
        context = self.context
        where = f"{task.source.storage.base_path}/{task.source.info.path}"
        file = RowsFile(context, FileTask(task.folder, task.file_id, None), task.number)
        index = KeyIndexBuilder(context.file.options)
        with file.open() as writer:
            for rows in chunks(task.source.batches()):
                if not rows.num_rows:
                    continue
                check_folder(rows, context.paths, task.folder, where)
                keys = context.keys.of(rows)
                named = pa.table({RECORD_KEY: keys, PARTITION_PATH: pa.repeat(task.folder, rows.num_rows)})
                writer.write(file.stamp(named))
                index.add(keys)
            written = writer.rows
            writer.finish(index.build())
        if written != task.rows:
            raise CorruptFileError(
                f"Source file {where} does not hold the rows that its footer promises",
                found=f"{written} rows read, {task.rows} promised",
                fix="restore the file",
            )
        return file.handle.stat(inserts=written)


def skeleton_context(context: WriteContext) -> WriteContext:
    """The context of a write, for files with meta columns only."""
    return replace(context, file=FileFormat(pa.schema(META_FIELDS), _AVRO_SCHEMA, context.file.options))
