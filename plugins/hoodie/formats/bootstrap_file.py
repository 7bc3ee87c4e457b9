"""A skeleton file and the source file of its rows, read as one base file (format notes, section 10).

Row i of the skeleton has the meta columns of row i of the source. Either file is opened only when a column of it is wanted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.errors import CorruptFileError
from hoodie.formats.base_file import BaseFileReader, KeyIndex
from hoodie.formats.lance_file import LANCE, LanceReader
from hoodie.formats.row_groups import matching_row_groups
from hoodie.formats.source_file import Interval, SourceFile
from hoodie.model.files import BaseFile, SourceRows
from hoodie.model.meta_columns import META_COLUMNS, RECORD_KEY
from hoodie.schema.column_mapping import NO_RENAMING, Renaming
from hoodie.schema.history import NAMED_ALIKE, StoredColumns
from hoodie.schema.meta import META_FIELDS
from hoodie.storage.base import Storage


def open_base_file(
    storage: Storage, base: BaseFile, dictionaries: Collection[str] = (), columns: StoredColumns = NAMED_ALIKE
) -> BaseFileReader | BootstrapFileReader:
    """The reader of a base file, `dictionaries` as for `BaseFileReader`; its columns are called as the table calls them now
    (`columns`). Raises MissingFileError or CorruptFileError naming the file."""
    renaming = columns.in_file(base.instant)
    if base.source is None:
        return open_file(storage, base.path, dictionaries, renaming)
    return BootstrapFileReader(storage, base.path, base.source, renaming)


def open_file(
    storage: Storage, path: str, dictionaries: Collection[str] = (), renaming: Renaming = NO_RENAMING
) -> BaseFileReader:
    """The reader of the file at `path` alone, by its format. See `BaseFileReader` and `LanceReader` for what they raise."""
    if path.endswith(LANCE):
        return LanceReader(storage, path, renaming)
    return BaseFileReader(storage, path, dictionaries, renaming)


class BootstrapFileReader:
    """Reads like a BaseFileReader; row groups are those of the source file."""

    def __init__(self, storage: Storage, path: str, rows: SourceRows, renaming: Renaming = NO_RENAMING) -> None:
        self._storage = storage
        self._renaming = renaming
        self._path = path
        self._rows = rows

    def __enter__(self) -> BootstrapFileReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for name in ("_skeleton", "_source"):
            if name in self.__dict__:
                self.__dict__[name].close()

    @cached_property
    def _skeleton(self) -> BaseFileReader:
        return BaseFileReader(self._storage, self._path)

    @cached_property
    def _source(self) -> SourceFile:
        return SourceFile.at(self._rows.uri, self._rows.size, self._rows.modified_ms)

    @cached_property
    def schema(self) -> pa.Schema:
        """Meta columns, the source's columns, then those of its folders only, as text."""
        return self._renaming.apply(self._stored_schema.empty_table()).schema

    @cached_property
    def _stored_schema(self) -> pa.Schema:
        inside = set(self._source.schema.names)
        partition_columns = [pa.field(name, pa.string()) for name, _ in self._rows.values if name not in inside]
        return pa.schema([*META_FIELDS, *self._source.schema, *partition_columns])

    @property
    def rows(self) -> int:
        return self._skeleton.rows

    @property
    def row_groups(self) -> int:
        return int(self._source.metadata.num_row_groups)

    def key_range(self) -> tuple[str, str] | None:
        """The range of keys in the skeleton's footer."""
        return self._skeleton.key_range()

    def key_index(self) -> KeyIndex | None:
        """The bloom filter and key range of the skeleton's footer."""
        return self._skeleton.key_index()

    def matching(self, expression: pc.Expression, schema: pa.Schema) -> list[int]:
        """The source's row groups that neither file's statistics rule out."""
        every = list(range(self._source.metadata.num_row_groups))
        if not self._renaming.untouched(schema.names):
            return every
        groups = matching_row_groups(self._source.source, self._source.schema, expression, schema)
        if any(name in META_COLUMNS for name in schema.names):
            row_groups = self._skeleton.matching(expression, schema)
            if row_groups is not None:
                rows = [self._skeleton.row_interval(number) for number in row_groups]
                spans = self._source.intervals(None)
                near = [g for g, (low, high) in enumerate(spans) if any(a < high and b > low for a, b in rows)]
                every = [number for number in every if number in near]
        return every if groups is None else [number for number in every if number in groups]

    def batches(
        self, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None, batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        """The rows, a batch at a time: the named columns (None: all) of the named row groups (None: all)."""
        names_in_file = self._stored_schema.names if columns is None else self._renaming.in_file(columns)
        meta = [name for name in names_in_file if name in META_COLUMNS]
        if len(meta) == len(names_in_file) and row_groups is None:
            yield from self._skeleton.batches(meta, None, batch_rows)
            return
        data = [name for name in names_in_file if name in self._source.schema.names]
        partition_values = [
            (name, value) for name, value in self._rows.values if name in names_in_file and name not in data
        ]
        meta = meta if data else meta or [RECORD_KEY]  # something has to count the rows
        for rows in self._stored(meta, data, self._source.intervals(row_groups), batch_rows):
            for name, value in partition_values:
                rows = rows.append_column(name, pa.repeat(pa.scalar(value, pa.string()), rows.num_rows))
            yield self._renaming.apply(rows) if self._renaming.changes else rows

    def _stored(
        self, meta: Sequence[str], data: Sequence[str], intervals: Sequence[Interval], batch_rows: int
    ) -> Iterator[pa.Table]:
        if not meta:
            yield from self._source.batches(data, intervals, batch_rows)
            return
        if self._skeleton.rows != self._source.rows:
            raise CorruptFileError(
                f"Skeleton file {self._storage.base_path}/{self._path} does not fit its source file {self._rows.uri}",
                found=f"{self._skeleton.rows} and {self._source.rows} rows",
                fix="restore the source file as it was when the table was bootstrapped",
            )
        heads = self._skeleton.intervals(meta, intervals, batch_rows)
        if not data:
            yield from heads
            return
        for head, body in side_by_side(heads, self._source.batches(data, intervals, batch_rows)):
            yield pa.table([*head.columns, *body.columns], names=[*head.schema.names, *body.schema.names])


def side_by_side(left: Iterator[pa.Table], right: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Pieces of both sides with the same rows; the sides have equally many rows, in pieces of any size."""
    head: pa.Table | None = None
    body: pa.Table | None = None
    while True:
        head = next(left, None) if head is None else head
        body = next(right, None) if body is None else body
        if head is None or body is None:
            return
        rows = min(head.num_rows, body.num_rows)
        yield head.slice(0, rows), body.slice(0, rows)
        head = head.slice(rows) if head.num_rows > rows else None
        body = body.slice(rows) if body.num_rows > rows else None
