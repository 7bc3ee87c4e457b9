"""Base files: Parquet with Hudi's footer (format notes, section 5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie.cache import cached_property
from hoodie.errors import CorruptFileError, UnsupportedTableError, rollback_fix
from hoodie.formats.bloom import BloomFilter
from hoodie.formats.data_file import telling_missing, writer_of
from hoodie.formats.dictionary_columns import (
    coded,
    coded_columns,
    dictionary_columns,
    one_dictionary,
    small_dictionaries,
)
from hoodie.formats.int96 import open_parquet
from hoodie.formats.key_range import java_greatest, java_least, key_range
from hoodie.formats.row_groups import matching_row_groups
from hoodie.formats.source_file import Interval, read_intervals
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.schema.column_mapping import NO_RENAMING, Renaming
from hoodie.storage.base import File, Storage

_BLOOM, _BLOOM_TYPE = "org.apache.hudi.bloomfilter", "hoodie_bloom_filter_type_code"
_MIN_KEY, _MAX_KEY = "hoodie_min_record_key", "hoodie_max_record_key"
_ARROW_CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}  # as Arrow calls them
_OTHER_FORMATS = frozenset({"orc"})  # extensions of files that Hudi writes and we do not read
BATCH_BYTES = (
    64 * 1024 * 1024
)  # bytes of decoded rows per batch: merging copies a batch, and a text column of Arrow ends at 2 GiB


@dataclass(frozen=True, slots=True)
class BaseFileOptions:
    """How base files are written. Sizes in bytes."""

    compression: str = "ZSTD"
    row_group_bytes: int = 120 * 1024 * 1024
    bloom_entries: int | None = None  # None: as many as the file has keys
    bloom_fpp: float = 1e-9
    bloom_max_entries: int = 100000
    virtual_keys: bool = False  # the table's meta columns are null, and footers have no key index

    def constants(self, values: Mapping[str, str]) -> Mapping[str, str | None]:
        """The meta columns that have one value in all rows of a file: `values`; with virtual keys all of them, null."""
        return dict.fromkeys(META_COLUMNS) if self.virtual_keys else dict(values)


@dataclass(frozen=True)
class KeyIndex:
    """Record keys in a footer: a bloom filter that holds all of them, and their range by Java's order."""

    bloom: BloomFilter
    minimum: str
    maximum: str

    @staticmethod
    def of(bloom: BloomFilter, keys: pa.ChunkedArray) -> KeyIndex:
        """The index of `keys`, of which there are some and which the filter holds."""
        return KeyIndex(bloom, *key_range(keys))

    def with_keys(self, keys: pa.ChunkedArray) -> KeyIndex:
        """The index after more keys."""
        low, high = key_range(keys)
        least, greatest = java_least([low, self.minimum]), java_greatest([high, self.maximum])
        return KeyIndex(self.bloom.add(keys), least, greatest)


class BaseFileWriter:
    """Streams rows into one base file: `write` any number of times, then `finish`."""

    def __init__(
        self,
        sink: File,
        schema: pa.Schema,
        avro_schema: str,
        options: BaseFileOptions,
        constants: Mapping[str, str],
    ) -> None:
        """`schema` and `avro_schema` include the meta columns. `constants` are the utf8 columns with one value in all rows:
        of what is written only `rows_schema`, which is without them, is kept, so that they need no memory."""
        self._sink = sink
        self._constants = options.constants(constants)
        self._schema = coded(schema, self._constants)
        self.rows_schema = pa.schema([field for field in schema if field.name not in self._constants])
        self._avro = avro_schema
        self._options = options
        self._writer: pq.ParquetWriter | None = None
        self._dictionaries: list[str] = []  # columns
        self._pending: list[pa.Table] = []
        self.pending_bytes = 0  # bytes of rows that wait to fill a row group
        self.rows = 0

    @property
    def bytes_written(self) -> int:
        """Bytes that have reached the file; whole row groups only."""
        return int(self._sink.tell())

    def write(self, rows: pa.Table) -> None:
        """Take rows with the columns of `rows_schema`. Text columns that are dictionaries in the first ones stay such."""
        if not rows.num_rows:
            return
        rows = rows.select(self.rows_schema.names)
        if not self.rows:
            self._dictionaries = coded_columns(rows.schema)
        elif coded_columns(rows.schema) != self._dictionaries:
            rows = rows.cast(coded(rows.schema, self._dictionaries))
        self._pending.append(rows)
        self.pending_bytes += rows.nbytes
        self.rows += rows.num_rows
        if self.pending_bytes >= self._options.row_group_bytes:
            self.flush()

    def finish(self, keys: KeyIndex | None) -> None:
        """Write what is pending and the footer. `keys` is None for a file without rows, or without an index."""
        self.flush()
        writer = self._open(self.rows_schema.empty_table()) if self._writer is None else self._writer
        metadata = {"parquet.avro.schema": self._avro, "writer.model.name": "avro"}
        if keys is not None:
            metadata |= {
                _BLOOM: keys.bloom.to_base64(),
                _BLOOM_TYPE: keys.bloom.type_code,
                _MIN_KEY: keys.minimum,
                _MAX_KEY: keys.maximum,
            }
        writer.add_key_value_metadata(metadata)
        writer.close()

    def flush(self) -> None:
        """Write what is pending as a row group."""
        if not self._pending:
            return
        rows = one_dictionary(pa.concat_tables(self._pending))
        # Rows that came in one piece may be many times as large as a row group.
        per_group = max(1, rows.num_rows // max(1, self.pending_bytes // self._options.row_group_bytes))
        self._pending, self.pending_bytes = [], 0
        writer = self._open(rows) if self._writer is None else self._writer
        writer.write_table(self._with_constants(rows), row_group_size=per_group)

    def _with_constants(self, rows: pa.Table) -> pa.Table:
        zeros = pa.array(np.zeros(rows.num_rows if self._constants else 0, dtype=np.int32))
        values = {name: _repeated(zeros, value) for name, value in self._constants.items()}
        columns = [values[name] if name in values else rows[name] for name in self._schema.names]
        return pa.table(columns, schema=self._schema)

    def _open(self, first: pa.Table) -> pq.ParquetWriter:
        # Arrow leaves NaN out of a column's least and greatest number, and Spark, to which NaN is the greatest, then does not
        # find its row. Java, to spare that, writes no statistics of numbers with NaN; here they would have to be known first.
        self._schema = coded(self._schema, self._dictionaries)
        leaves = chain.from_iterable(_leaves(field.name, field.type) for field in self._schema)
        compared = [path for path, kind in leaves if not pa.types.is_floating(kind)]
        self._writer = pq.ParquetWriter(
            self._sink,
            self._schema,
            compression=_ARROW_CODECS.get(self._options.compression, self._options.compression),
            use_dictionary=[*self._constants, *dictionary_columns(first)] or False,
            write_statistics=compared,
            write_page_checksum=True,  # as Hudi does; Zstandard itself has none here
            store_schema=False,
        )
        return self._writer


def _repeated(zeros: pa.Array, value: str | None) -> pa.DictionaryArray:
    values = pa.array([] if value is None else [value], pa.string())
    return pa.DictionaryArray.from_arrays(pa.nulls(len(zeros), pa.int32()) if value is None else zeros, values)


def _leaves(path: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """The Parquet columns of a column, and their types."""
    if pa.types.is_struct(kind):
        for field in kind.fields:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_map(kind):
        yield from _leaves(f"{path}.key_value.key", kind.key_type)
        yield from _leaves(f"{path}.key_value.value", kind.item_type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    else:
        yield path, kind


class BaseFileReader:
    """One base file, opened. Close it, or use it in a `with` block."""

    def __init__(
        self, storage: Storage, path: str, dictionaries: Collection[str] = (), renaming: Renaming = NO_RENAMING
    ) -> None:
        """`dictionaries` are the text columns that are given as dictionaries if the file keeps them as small ones: rows that are
        only written again need not be decoded. Columns have their current names in the table, by `renaming`.

        Raises MissingFileError, CorruptFileError, or UnsupportedTableError for ORC, naming the file.
        """
        self._where = f"{storage.base_path}/{path}"
        self._renaming = renaming
        with telling_missing(self._where, "Base"):
            self._source = storage.open_input(path)
        try:
            self._file = open_parquet(self._source, pre_buffer=False)
            if names := small_dictionaries(self._file, renaming.in_file([*dictionaries])):
                self._file = open_parquet(
                    self._source, metadata=self._file.metadata, read_dictionary=names, pre_buffer=False
                )
        except (pa.ArrowInvalid, OSError) as error:
            self._source.close()
            kind = path.rpartition(".")[2]
            if kind in _OTHER_FORMATS:  # tables of several formats (hoodie.table.multiple.base.file.formats.enable)
                raise UnsupportedTableError(
                    f"Base file {self._where} cannot be read by this library",
                    found=f"a file of the format {kind.upper()}",
                    fix="read the table with Hudi on Spark, or let Hudi write its rows to a table of Parquet files",
                ) from error
            raise self._corrupt(error) from error
        if self._row_bounds[-1] != self.rows:
            self.close()
            raise self._corrupt(
                ValueError(f"a footer of {self.rows:,} rows, with {self._row_bounds[-1]:,} in its row groups")
            )

    def __enter__(self) -> BaseFileReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self._source.close()

    @property
    def footer(self) -> pq.FileMetaData | None:
        """The footer of Parquet as it is stored; None for a file of another format."""
        return pq.ParquetFile(self._source).metadata

    @cached_property
    def schema(self) -> pa.Schema:
        stored = self._file.schema_arrow
        return self._renaming.apply(stored.empty_table()).schema if self._renaming.changes else stored

    @property
    def rows(self) -> int:
        return int(self._file.metadata.num_rows)

    def batches(
        self, columns: Sequence[str] | None = None, row_groups: Sequence[int] | None = None, batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        """The rows, at most `batch_rows` at a time and fewer where they are large: the named columns that the file has (None:
        all) of the named row groups (None: all)."""
        present = set(self._file.schema_arrow.names)
        names_in_file = (
            None if columns is None else [name for name in self._renaming.in_file(columns) if name in present]
        )
        groups = list(range(self._file.num_row_groups)) if row_groups is None else list(row_groups)
        fitting = min(batch_rows, self._fitting_rows(names_in_file, groups))
        missing_rows = sum(self._file.metadata.row_group(number).num_rows for number in groups)
        try:
            for batch in self._file.iter_batches(fitting, row_groups=groups, columns=names_in_file, use_threads=False):
                rows = pa.Table.from_batches([batch])
                missing_rows -= rows.num_rows
                yield self._renaming.apply(rows) if self._renaming.changes else rows
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(error) from error
        if missing_rows:
            than = "less" if missing_rows > 0 else "more"
            raise self._corrupt(ValueError(f"its pages have {abs(missing_rows):,} rows {than} than its footer says"))

    def _fitting_rows(self, columns: Sequence[str] | None, groups: Sequence[int]) -> int:
        """How many rows of the columns `BATCH_BYTES` hold, by their encoded size: values of a dictionary may be larger."""
        fitting = max(1, self.rows)
        for row_group in map(self._file.metadata.row_group, groups):
            size = row_group.total_byte_size
            if columns is not None and size * fitting > BATCH_BYTES * row_group.num_rows:
                chunks = map(row_group.column, range(row_group.num_columns))
                size = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.partition(".")[0] in columns)
            fitting = min(fitting, max(1, BATCH_BYTES * row_group.num_rows // max(1, size)))
        return fitting

    def intervals(
        self, columns: Sequence[str], intervals: Sequence[Interval], batch_rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        """The rows of ordered intervals, in order, of the named columns."""
        try:
            yield from read_intervals(self._file, columns, intervals, batch_rows)
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(error) from error

    @property
    def row_groups(self) -> int:
        return int(self._file.metadata.num_row_groups)

    def row_interval(self, row_group: int) -> Interval:
        """The rows of a row group: the number of the first, and of the one after the last."""
        return self._row_bounds[row_group], self._row_bounds[row_group + 1]

    def row_numbers(self, row_groups: Sequence[int]) -> npt.NDArray[np.int64]:
        """The numbers in the file of the rows of some row groups, in that order."""
        return np.concatenate([np.arange(0), *(np.arange(*self.row_interval(number)) for number in row_groups)])

    @cached_property
    def _row_bounds(self) -> list[int]:
        """The number of each row group's first row, then that of all rows."""
        sizes = (self._file.metadata.row_group(number).num_rows for number in range(self.row_groups))
        return list(accumulate(sizes, initial=0))

    def matching(self, expression: pc.Expression, schema: pa.Schema) -> list[int] | None:
        """The row groups whose statistics do not rule the filter out; None (all) when a type of the file differs."""
        return matching_row_groups(self._source, self._file.schema_arrow, expression, schema, self._renaming)

    def key_range(self) -> tuple[str, str] | None:
        """The least and the greatest key by the footer, by Java's order of texts; None when the writer left them out."""
        metadata = self._key_metadata
        low, high = (metadata.get(name.encode()) for name in (_MIN_KEY, _MAX_KEY))
        return None if low is None or high is None else (low.decode(), high.decode())

    def key_index(self) -> KeyIndex | None:
        """The bloom filter and key range of the footer; None when the writer left them out."""
        metadata = self._key_metadata
        bloom, bounds = metadata.get(_BLOOM.encode()), self.key_range()
        if bloom is None or bounds is None:
            return None
        code = metadata.get(_BLOOM_TYPE.encode(), b"SIMPLE").decode()
        return KeyIndex(BloomFilter.parse(bloom.decode(), code), *bounds)

    @property
    def _key_metadata(self) -> Mapping[bytes, bytes]:
        """The entries of the footer by their names, those of keys among them."""
        return self._file.metadata.metadata or {}

    def _corrupt(self, error: Exception) -> CorruptFileError:
        return CorruptFileError(
            f"Base file {self._where} cannot be read",
            found=str(error),
            fix=f"restore the file from a copy, or {rollback_fix(writer_of(self._where))}",
        )
