"""State that the tasks of a compaction and of a log compaction share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.memory import MergeMemory
from hoodie.formats.file_format import FileFormat
from hoodie.keygen import stored_keys
from hoodie.merge import merge_rules
from hoodie.read.logs import LogReader
from hoodie.read.slice_reader import SliceMerger
from hoodie.schema.history import StoredColumns
from hoodie.transaction.data_file import OpenDataFile
from hoodie.view import TableState
from hoodie.view.log_blocks import log_check
from hoodie.write.plan import base_file_options


@dataclass(frozen=True)
class SliceTask:
    """A task function that merges slices into new files of one instant."""

    not_merged: ClassVar[tuple[str, ...]] = ()  # columns that the merged rows do not keep
    hides_logs: ClassVar[bool] = False
    """The new file takes the place of all logs of its slice, in version 6 also of those that came after the plan."""

    merger: SliceMerger  # for the columns of the files but `not_merged`
    writing: OpenDataFile
    file: FileFormat

    @classmethod
    def of(cls, state: TableState, schema: pa.Schema, writing: OpenDataFile, chosen: Options) -> Self:
        """The task for a table as it is in `state`, with its data columns in `schema`: those of the instant's time."""
        file = FileFormat.of(schema, state.properties.name, base_file_options(chosen, state.properties))
        rows = pa.schema([field for field in file.schema if field.name not in cls.not_merged])
        keys = stored_keys(state.properties, schema)
        columns = StoredColumns.of(schema, state.schemas, writing.instant)
        rules = merge_rules(state.properties)
        check = log_check(state.layout)
        until = None if cls.hides_logs and not state.layout.logs_tell_writer else writing.instant
        logs = LogReader(state.storage, state.timeline, rules, rows, keys, until, columns, check)
        return cls(SliceMerger(logs, MergeMemory.of(chosen)), writing, file)
