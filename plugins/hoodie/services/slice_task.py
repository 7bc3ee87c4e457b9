"""What the tasks of a compaction and of a log compaction know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.memory_keys import MergeMemory
from hoodie.engine.base import Engine
from hoodie.formats.base_file import BaseFileOptions
from hoodie.keygen import stored_keys
from hoodie.merge import merge_rules
from hoodie.read.logs import LogReader
from hoodie.read.merged import SliceMerger
from hoodie.schema import arrow_to_avro, with_meta_columns
from hoodie.timeline import Action, Instant, State
from hoodie.view import TableState
from hoodie.write.plan import base_file_options


@dataclass(frozen=True)
class SliceTask:
    """A task function that merges slices into new files of one instant; `schema` and `avro_schema` are those of the files."""

    action: ClassVar[Action]
    not_merged: ClassVar[tuple[str, ...]] = ()  # columns that the merged rows do not keep

    merger: SliceMerger  # of the columns in `schema` but `not_merged`
    instant: str
    inflight: str  # path of its inflight file
    schema: pa.Schema  # with meta columns
    avro_schema: str
    options: BaseFileOptions
    write_token: Callable[[int], str]

    @classmethod
    def of(cls, state: TableState, schema: pa.Schema, time: str, chosen: Options, engine: Engine) -> Self:
        """The task for a table as it is in `state`, with its data columns in `schema`."""
        files = with_meta_columns(schema)
        rows = pa.schema([field for field in files if field.name not in cls.not_merged])
        keys = stored_keys(state.properties, schema)
        logs = LogReader(state.storage, state.timeline, merge_rules(state.properties), rows, keys, time)
        return cls(
            SliceMerger(logs, MergeMemory.of(chosen)),
            time,
            f"{state.layout.folder}/{state.layout.pending_name(Instant(time, cls.action, State.INFLIGHT))}",
            files,
            arrow_to_avro(files, state.properties.name),
            base_file_options(chosen, state.properties),
            engine.write_token,
        )
