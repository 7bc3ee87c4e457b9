"""Base files of Lance, which Hudi writes since 1.2 (`hoodie.table.base.file.format=LANCE`). Needs the extra `lance`.

The schema's metadata has what the footer of a Parquet file has: key range and bloom filter.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie.cache import cached_property
from hoodie.errors import missing_extra
from hoodie.formats.base_file import BATCH_BYTES, BaseFileReader
from hoodie.formats.data_file import telling_missing
from hoodie.formats.source_file import Interval
from hoodie.schema.column_mapping import NO_RENAMING, Renaming
from hoodie.storage.base import Storage, closing_input

LANCE = ".lance"
_GROUP_ROWS = 1 << 17  # rows that are read together: Lance has no row groups
_EXPANSION = 4  # decoded bytes for each byte of a file
_ERRORS = (pa.ArrowException, OSError, RuntimeError, ValueError)  # errors of Lance, for a file that it cannot read


class LanceReader(BaseFileReader):
    """One base file of Lance, opened: a copy of it in the local temporary folder, until it is closed."""

    def __init__(self, storage: Storage, path: str, renaming: Renaming = NO_RENAMING) -> None:
        """`renaming` as for `BaseFileReader`. Raises MissingFileError or CorruptFileError naming the file.

        Raises ConfigError without the extra.
        """
        self._where = f"{storage.base_path}/{path}"
        self._renaming = renaming
        self._copy = tempfile.NamedTemporaryFile(suffix=LANCE)  # noqa: SIM115 - closed by `close`
        try:
            with telling_missing(self._where, "Base"), closing_input(storage, path) as source:
                shutil.copyfileobj(source, self._copy, 1 << 20)
            self._copy.flush()
            self._size = self._copy.tell()
            self._stored = self._open()
            self._rows = int(self._stored.num_rows())
            self._schema: pa.Schema = self._stored.metadata().schema
        except _ERRORS as error:
            self.close()
            raise self._corrupt(error) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._copy.close()

    @property
    def footer(self) -> pq.FileMetaData | None:
        return None

    @cached_property
    def schema(self) -> pa.Schema:
        return self._renaming.apply(self._schema.empty_table()).schema if self._renaming.changes else self._schema

    @property
    def rows(self) -> int:
        return self._rows

    def batches(
        self, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None, batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        stored = self._schema.names
        names_in_file = (
            stored if columns is None else [name for name in self._renaming.in_file(columns) if name in stored]
        )
        numbers = range(self.row_groups) if row_groups is None else row_groups
        for rows in self._read(names_in_file, [self.row_interval(number) for number in numbers], batch_rows):
            yield self._renaming.apply(rows) if self._renaming.changes else rows

    def intervals(
        self, columns: Sequence[str], intervals: Sequence[Interval], batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        yield from self._read(columns, intervals, batch_rows)

    @property
    def row_groups(self) -> int:
        return -(-self._rows // _GROUP_ROWS)

    def matching(self, expression: pc.Expression, schema: pa.Schema) -> list[int] | None:
        """All of them: no statistics are read."""
        return None

    @cached_property
    def _row_bounds(self) -> list[int]:
        return [*range(0, self._rows, _GROUP_ROWS), self._rows]

    @property
    def _key_metadata(self) -> Mapping[bytes, bytes]:
        return self._schema.metadata or {}

    def _read(self, columns: Sequence[str], intervals: Sequence[Interval], batch_rows: int) -> Iterator[pa.Table]:
        read = [*columns] or self._schema.names[:1]  # a batch without columns has its number of rows
        fitting = BATCH_BYTES * max(1, self._rows) // max(1, self._size * _EXPANSION)
        try:
            file = self._open(read)
            for first, end in intervals:
                if first < end:
                    batches = file.read_range(first, end - first, batch_size=max(1, min(batch_rows, fitting)))
                    for batch in batches.to_batches():
                        yield pa.Table.from_batches([batch]).select([*columns])
        except _ERRORS as error:
            raise self._corrupt(error) from error

    def _open(self, columns: Sequence[str] | None = None) -> Any:
        try:
            from lance.file import LanceFileReader  # a second, and 70 MB
        except ImportError as error:
            raise missing_extra("lance", "A table of Lance files", error) from error
        return LanceFileReader(self._copy.name, columns=None if columns is None else [*columns])
