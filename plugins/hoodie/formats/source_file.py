"""Parquet files that others wrote, as the source of a bootstrap: Spark's, Hive's and Impala's (format notes, section 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.cache import cached_property
from hoodie.errors import CorruptFileError, MissingFileError
from hoodie.formats.int96 import int96_columns, open_parquet, utc_schema
from hoodie.storage import open_storage
from hoodie.storage.base import File, Storage

Interval = tuple[int, int]
"""Rows from the first number up to, but without, the second."""


class SourceFile:
    """One Parquet file, opened for reading. INT96 timestamps are moments in UTC, as Spark takes them.

    Close it, or use it in a `with` block.
    """

    def __init__(self, storage: Storage, path: str, size: int | None = None, modified_ms: int = 0) -> None:
        """`size` in bytes and `modified_ms` since 1970 (0: not known) are what it had when it was looked at first.

        Raises MissingFileError or CorruptFileError.
        """
        self._where = f"{storage.base_path}/{path}"
        info = storage.info(path)
        if info is None:
            raise MissingFileError(
                f"Source file {self._where} is missing",
                found="rows of a bootstrapped table are in it",
                fix="restore the file; it may go only when the table holds its rows in files of its own",
            )
        if size is not None and info.size != size:
            raise CorruptFileError(
                f"Source file {self._where} was changed since it was bootstrapped",
                found=f"{info.size} bytes, it had {size}",
                fix="restore the file as it was: its rows belong to those of a skeleton file, one by one",
            )
        if not _same_time(info.modified_ms, modified_ms):
            raise CorruptFileError(
                f"Source file {self._where} was written again since it was bootstrapped",
                found=f"it was modified at {_moment(info.modified_ms)}, the bootstrap index has {_moment(modified_ms)}",
                fix="restore the file as it was: its rows belong to those of a skeleton file, one by one. If it is a copy of the "
                "very same file, give it that modification time back (touch -d, cp -p)",
            )
        self.source: File = storage.open_input(path)
        try:
            self._file = open_parquet(self.source, pre_buffer=False)
        except (pa.ArrowInvalid, OSError) as error:
            self.source.close()
            raise self._corrupt(error) from error

    @classmethod
    def at(cls, uri: str, size: int | None = None, modified_ms: int = 0) -> SourceFile:
        """The file of a URI or a plain path."""
        folder, _, name = uri.rpartition("/")
        return cls(open_storage(folder), name, size, modified_ms)

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self.source.close()

    @property
    def metadata(self) -> pq.FileMetaData:
        """The footer."""
        return self._file.metadata

    @property
    def rows(self) -> int:
        return int(self._file.metadata.num_rows)

    @cached_property
    def int96_columns(self) -> frozenset[str]:
        """See `hoodie.formats.int96.int96_columns`."""
        return int96_columns(self._file)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns as they are read."""
        return utc_schema(self._file).remove_metadata()

    def intervals(self, row_groups: Sequence[int] | None) -> list[Interval]:
        """The rows of these row groups; None: of all."""
        result, start = [], 0
        for number in range(self._file.num_row_groups):
            rows = self._file.metadata.row_group(number).num_rows
            if row_groups is None or number in row_groups:
                result.append((start, start + rows))
            start += rows
        return result

    def batches(
        self, columns: Sequence[str], intervals: Sequence[Interval], batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        """The rows of the intervals, in order, of the named columns that the file has."""
        schema = pa.schema([self.schema.field(name) for name in columns if name in self.schema.names])
        try:
            for batch in read_intervals(self._file, schema.names, intervals, batch_rows):
                rows = batch.select(schema.names)
                yield rows if rows.schema.types == schema.types else rows.cast(schema)
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(error) from error

    def _corrupt(self, error: Exception) -> CorruptFileError:
        return CorruptFileError(
            f"Source file {self._where} cannot be read", found=str(error), fix="restore the file, or take it away"
        )


def read_intervals(
    file: pq.ParquetFile, columns: Sequence[str], intervals: Sequence[Interval], batch_rows: int
) -> Iterator[pa.Table]:
    """The rows of ordered intervals, in order; row groups without such rows are not read."""
    start = 0
    for number in range(file.num_row_groups):
        rows = file.metadata.row_group(number).num_rows
        inside = [(low, high) for low, high in intervals if low < start + rows and high > start]
        position = start
        for batch in (
            file.iter_batches(batch_rows, row_groups=[number], columns=columns, use_threads=False) if inside else ()
        ):
            table = pa.Table.from_batches([batch])
            for low, high in inside:
                first, last = max(low, position), min(high, position + table.num_rows)
                if last > first:
                    yield table.slice(first - position, last - first)
            position += table.num_rows
        start += rows


def _same_time(time: int, recorded: int) -> bool:
    """Compare two times in ms since 1970, as exactly as both are: some stores and JVMs keep seconds only, some no times at all
    (0)."""
    if not time or not recorded:
        return True
    if time % 1000 and recorded % 1000:
        return abs(time - recorded) <= 1  # ms, by which conversions from floating point differ
    return time // 1000 == recorded // 1000


def _moment(modified_ms: int) -> str:
    return datetime.fromtimestamp(modified_ms / 1000, UTC).isoformat(timespec="milliseconds")
