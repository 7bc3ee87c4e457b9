"""Input of a write: any object with Arrow's C stream, in pieces. It is never whole in memory unless it was before."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.config.operations import Operation
from hoodie.engine.base import Engine, Split
from hoodie.engine.splits import arrow_splits
from hoodie.engine.stream_spool import OnceSplit, spooled
from hoodie.errors import ArgumentError, DataError, HoodieError, SchemaConflictError, check_argument
from hoodie.view.access import TableAccess
from hoodie.write.plan import plan_write
from hoodie.write.sizing import input_tasks

_HELD_BYTES = 128 * 1024 * 1024  # bytes of a stream that are held to see whether it ends
_BATCH_BYTES = 8 * 1024 * 1024  # bytes of a batch that is handed on
_INSTEAD = {
    "list": "for a list of dicts: pyarrow.Table.from_pylist(rows)",
    "dict": "for columns by name: pyarrow.table(rows)",
    "generator": "for record batches: pyarrow.RecordBatchReader.from_batches(schema, rows)",
    "LazyFrame": "rows.collect()",
    "Series": "rows.to_frame()",
    "FileSystemDataset": "rows.scanner().to_reader()",
    "Scanner": "rows.to_reader()",
    "str": "to load files: hudi-services ingest",
}


class ArrowStreamExportable(Protocol):
    """Rows with the Arrow C stream: a pyarrow Table or RecordBatchReader, a DataFrame of pandas or polars, or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArrayExportable(Protocol):
    """Rows with the Arrow C array interface: a record batch of any library."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class EngineRows(Protocol):
    """A DataFrame of the engine, such as Spark's."""

    def mapInArrow(self, func: Any, schema: Any) -> Any:  # noqa: N802 - Spark's name
        """Run `func` on the batches of each partition: iterator of batches -> iterator of batches in `schema`."""
        ...


Rows = ArrowStreamExportable | ArrowArrayExportable | EngineRows | Sequence[Split]
"""Rows of a write: Arrow of any library, or, together with their schema, the input of an engine."""


@dataclass(frozen=True)
class WriteInput:
    """Input of an engine, and its columns."""

    rows: Any
    schema: pa.Schema
    deletions: str | None = None
    """The boolean column that marks the rows to delete. It is not stored."""


@contextmanager
def write_input(
    access: TableAccess,
    rows: Rows,
    schema: pa.Schema | None,
    operation: Operation,
    options: Options,
    deletions: str | None = None,
) -> Iterator[WriteInput]:
    """The rows of a write as the engine takes them: with `schema` they are of these types, or are brought to them.

    A short stream is held in memory, as a table is. For a longer one a bulk insert writes rows as they come. The other operations
    have to know all keys before they write a row, so its rows wait in local files (`hoodie.memory.spillable.map.path`), once it
    is known that the write would not be refused. An engine of other processes gets all rows from memory.

    Raises ArgumentError for an object that is not Arrow, DataError when the source of the rows fails, SchemaConflictError for an
    index of pandas without a name, and what `plan_write` raises.
    """
    check_argument("schema", schema, "a pyarrow.Schema, or None", pa.Schema, type(None))
    if schema is not None and _is_native(rows, access.engine):
        yield WriteInput(rows, schema, deletions)
        return
    engine = access.engine

    def in_memory(table: pa.Table) -> WriteInput:
        _check_index(rows, table.schema)
        tasks = input_tasks(operation, options, table.nbytes, engine.parallelism)
        return WriteInput(arrow_splits(table, tasks), table.schema, deletions)

    if isinstance(rows, pa.Table) and schema is None:
        yield in_memory(rows)
        return
    with _reader(rows, schema) as reader:
        batches, first = _read(rows, reader), list[pa.RecordBatch]()
        size = 0
        for batch in batches:
            first.append(batch)
            size += batch.nbytes
            if size >= _HELD_BYTES and engine.in_process:
                break
        else:
            yield in_memory(pa.Table.from_batches(first, reader.schema))
            return
        _check_index(rows, reader.schema)
        plan = plan_write(access.state(), reader.schema, operation, options, deletions)
        every = itertools.chain(_let_go(first), batches)
        if plan.places_at_once:
            tasks = plan.tasks(0, engine.parallelism)
            yield WriteInput([OnceSplit(every)] * tasks, reader.schema)
            return
        with tempfile.TemporaryDirectory(prefix="hoodie-write-", dir=options[SPILL_FOLDER] or None) as folder:
            yield WriteInput(spooled(every, reader.schema, Path(folder)), reader.schema, deletions)


def _is_native(rows: Any, engine: Engine) -> bool:
    """Return whether the engine reads the rows as they are: splits, or a DataFrame of its own."""
    if not engine.in_process and hasattr(rows, "mapInArrow"):
        return True
    return isinstance(rows, Sequence) and all(hasattr(split, "narrowed") for split in rows)


@contextmanager
def _reader(rows: Any, schema: pa.Schema | None) -> Iterator[pa.RecordBatchReader]:
    try:
        if isinstance(rows, pa.RecordBatchReader) and schema is None:
            reader = rows
        elif hasattr(rows, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(rows, schema)
        elif hasattr(rows, "__arrow_c_array__"):
            batch = pa.record_batch(rows)
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        else:
            raise ArgumentError(
                f"Rows of type {type(rows).__name__} cannot be written",
                found="no Arrow C stream (`__arrow_c_stream__`)",
                fix="give a pyarrow Table, RecordBatch or RecordBatchReader, a DataFrame of pandas or polars, a relation of "
                f"DuckDB{_hint(rows)}",
            )
    except ArgumentError:
        raise
    except Exception as error:
        raise _failed(rows, error) from error
    with reader:
        yield reader


def _hint(rows: Any) -> str:
    hint = _INSTEAD.get(type(rows).__name__)
    return f"; {hint}" if hint is not None else ""


def _failed(rows: Any, error: Exception) -> DataError:
    """Any error of another library while it gives its rows."""
    return DataError(
        f"The rows of the {type(rows).__name__} cannot be read as Arrow columns",
        found=f"{type(error).__name__}: {str(error).partition('. Detail: ')[0]}",
        fix="give each column one type, and a table of named columns, not one column; nothing was written",
    )


def _read(rows: Any, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of the stream, the large ones in slices."""
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except HoodieError:
            raise  # raised by rows that this project reads, such as those of a database
        except Exception as error:
            raise _failed(rows, error) from error
        count = max(1, batch.num_rows * _BATCH_BYTES // max(1, batch.nbytes))
        for start in range(0, batch.num_rows, count):
            yield batch.slice(start, count)


def _let_go(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, none of which is held once it was given."""
    batches.reverse()
    while batches:
        yield batches.pop()


def _check_index(rows: Any, schema: pa.Schema) -> None:
    """Check the index of a pandas DataFrame. Row numbers without a name are not a column, and nothing is lost without them."""
    for index in _pandas_index(schema):
        if isinstance(index, str) and index.startswith("__index_level_") and index in schema.names:
            raise SchemaConflictError(
                "The index of the DataFrame has no name, by which it would be a column",
                found=f"the column {index}, which pandas made of it",
                fix="leave it out with frame.reset_index(drop=True), or name it with frame.rename_axis('name')",
            )
        if isinstance(index, dict) and index.get("name") is not None and not isinstance(rows, pa.Table):
            raise SchemaConflictError(
                f"The index {index['name']!r} of the DataFrame would be lost",
                found="a range, of which pandas makes no column",
                fix="make it a column with frame.reset_index()",
            )


def _pandas_index(schema: pa.Schema) -> Sequence[Any]:
    try:
        index_columns = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return ()
    return index_columns if isinstance(index_columns, list) else ()
