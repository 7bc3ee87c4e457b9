"""Writes the batches of a query into a table, each in one commit, and a batch that is there not again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hoodie.clock import SystemClock
from hoodie.config.keys.write import OPERATION
from hoodie.engine import Engine
from hoodie.errors import ConfigError
from hoodie.model.internal_columns import DELETION
from hoodie.services.inline import InlineServices
from hoodie.spark.staging import new_folder, remove, remove_old
from hoodie.spark.stream.batch_file import BatchFile
from hoodie.spark.stream.batches import StreamBatch, WrittenBatch, check_batch
from hoodie.spark.stream.change_exchange import staged_changes
from hoodie.spark.stream.services import ServicesBeside
from hoodie.storage import BasePath, Storage
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.view.missing_files import retried_when_missing
from hoodie.write.change_rows import ChangeColumns, ChangeRows, change_rows
from hoodie.write.execute import WriteHooks, WriteResult

_log = logging.getLogger(__name__)


class _WrittenMeanwhileError(Exception):
    """The batch is in the table: the write that found it leaves nothing."""

    def __init__(self, batch: WrittenBatch) -> None:
        super().__init__()
        self.batch = batch


@dataclass(frozen=True)
class SinkWrites:
    """How the batches of a query are written."""

    base_path: BasePath
    operation: str
    options: Mapping[str, object]
    deletions: str | None = None
    """Boolean column of the rows: where it is true, an upsert deletes the key."""
    changes: ChangeColumns | None = None
    """The rows are changes, applied in order. None: they are rows."""
    services_beside: bool = False
    """Services after a commit run in a thread beside the next batches."""

    def check(self) -> None:
        """Raises ConfigError for settings that contradict each other."""
        if self.changes is None:
            return
        if self.operation != "upsert" or self.deletions is not None:
            raise ConfigError(
                "Changes are applied by an upsert",
                found=f"operation {self.operation}" if self.deletions is None else f"deletions={self.deletions!r}",
                fix=f"leave {OPERATION.name} and the column of deletions out: the operation of each change says it",
            )


@dataclass
class BatchWriter:
    """The writer of one run of queries."""

    writes: SinkWrites
    written_batches: dict[str, WrittenBatch] = field(default_factory=dict)
    """The last batch of each query that it has written."""
    _stored: dict[str, tuple[BatchFile, WrittenBatch | None]] = field(default_factory=dict)
    """The file of each query, and the batch that it had when this run began."""
    _swept: bool = False

    def __post_init__(self) -> None:
        beside = self.writes.services_beside
        self.services = ServicesBeside(self.writes.base_path, self.writes.options) if beside else None
        """The services beside the batches. None: each write runs its own."""

    def has_written(self, query: str) -> bool:
        """Return whether this run has written a batch of the query: then `write` finds out by itself what `is_there` says."""
        return query in self.written_batches

    def is_there(self, batch: StreamBatch) -> bool:
        """Return whether the table has the batch. Raises what `check_batch` raises."""
        table = HoodieTable.open(self.writes.base_path)
        file, stored = self._file(batch.query, table.access.storage)  # before the commits, which may be newer then
        stored_batch = retried_when_missing(check_batch)(
            table.state(), batch, self.written_batches.get(batch.query), stored
        )
        if stored_batch is None:
            return False
        file.store(stored_batch)
        _log.info("Batch %d of query %s is in table %s already", batch.batch, batch.query, self.writes.base_path)
        return True

    def write(self, batch: StreamBatch, rows: Any, schema: pa.Schema, engine: Engine) -> WriteResult | None:
        """Write the rows, what the engine takes as input or a table of Arrow. Return None if the batch is there.

        Raises what `HoodieTable.write`, `change_rows` and `check_batch` raise: nothing of the batch is written then.
        """
        writes = self.writes
        table = HoodieTable.open(writes.base_path, engine=engine)
        file, stored = self._file(batch.query, table.access.storage)

        def check(state: TableState) -> None:
            stored_batch = check_batch(state, batch, self.written_batches.get(batch.query), stored)
            if stored_batch is not None:
                raise _WrittenMeanwhileError(stored_batch)

        hooks = WriteHooks(on_begin=check, on_others=check)
        try:
            with self._input(table, rows, schema, engine) as (some, columns, deletions):
                result = table.write(
                    some,
                    writes.operation,
                    writes.options if self.services is None else self.services.write_options,
                    schema=columns,
                    deletions=deletions,
                    extra_metadata=batch.metadata,
                    hooks=hooks,
                )
        except _WrittenMeanwhileError as error:
            file.store(error.batch)
            return None
        self.written_batches[batch.query] = written = batch.written(result.instant.time)
        file.store(written)
        if self.services is not None:
            self.services.start()
        return result

    def _file(self, query: str, storage: Storage) -> tuple[BatchFile, WrittenBatch | None]:
        """The file of a query, and the batch that it had when this run began. Raises CorruptTableError."""
        if query not in self._stored:
            file = BatchFile(storage, query)
            self._stored[query] = file, file.load()
        return self._stored[query]

    @contextmanager
    def _input(
        self, table: HoodieTable, rows: Any, schema: pa.Schema, engine: Engine
    ) -> Iterator[tuple[Any, pa.Schema | None, str | None]]:
        """The rows to write, their schema where the engine reads them, and the column of deletions."""
        columns, options = self.writes.changes, self.writes.options
        if columns is None:
            yield rows, None if isinstance(rows, pa.Table) else schema, self.writes.deletions
            return
        change = change_rows(table.state(), schema, columns, InlineServices.of(options).options)
        if isinstance(rows, pa.Table):
            yield change(rows), None, DELETION
            return
        with self._staged(table, rows, change, engine) as splits:
            yield splits, change.schema, DELETION

    @contextmanager
    def _staged(self, table: HoodieTable, rows: Any, change: ChangeRows, engine: Engine) -> Iterator[Any]:
        """The last changes of the keys in files of the table's storage, which go away with the block."""
        storage, now = table.access.storage, SystemClock().now()
        if not self._swept:
            remove_old(storage, now)
            self._swept = True
        folder = new_folder(now)
        try:
            yield staged_changes(engine, rows, change, storage, folder)
        finally:
            remove(storage, folder)
