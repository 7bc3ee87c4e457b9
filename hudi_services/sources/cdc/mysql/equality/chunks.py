"""Checksums of chunks, alike at the server and over Arrow. A chunk has the rows whose keys have a common hash.

So no order of keys matters: the server orders text by its collations. A checksum is the number of rows, and the XOR of the first
64 bits of the MD5 of each row's bytes (`row_text`). Rows of the server differ in their keys, so equal checksums mean equal rows:
a row that is there twice changes the number, and other rows have other MD5s. A CRC would not do: values that two rows exchange
leave its XOR as it is. The server computes one digest of a row, not more, as this is most of its work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.equality.row_sql import row_expression
from hudi_services.sources.cdc.mysql.equality.row_text import row_bytes
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.database_pool import DatabasePool

if TYPE_CHECKING:
    from pymysql.connections import Connection

CHUNKS = 1 << 16
_POOL = DatabasePool({"threads": "1", "enable_external_access": "false"})


@dataclass(frozen=True)
class RowHash:
    """A hash that the server and DuckDB know: the words of the server, and DuckDB's number of its first eight bytes.

    DuckDB takes the first byte for the lowest one where it `is_reversed`. The server takes it for the highest.
    """

    words: str
    number: str
    is_reversed: bool

    def on_server(self, expression: str, digits: int) -> str:
        """Return the number of the first hexadecimal digits in the words of the server."""
        return f"CAST(CONV(LEFT({self.words.format(expression)}, {digits}), 16, 10) AS UNSIGNED)"

    def chunk_in_duckdb(self, column: str) -> str:
        """Return DuckDB's expression of the chunk that `chunk_numbers` reads."""
        number = self.number.format(column)
        return f"{number} & 65535" if self.is_reversed else f"{number} >> 48"

    def chunk_numbers(self, chunks: np.ndarray) -> np.ndarray:
        """Return chunks of DuckDB as the server has them."""
        return (chunks.astype(np.uint16).byteswap() if self.is_reversed else chunks).astype(np.int64)

    def row_numbers(self, digests: np.ndarray) -> np.ndarray:
        """Return digests of the server as DuckDB has them."""
        return digests.byteswap() if self.is_reversed else digests


MD5 = RowHash("MD5({})", "md5_number_upper({})", is_reversed=True)
SHA2 = RowHash("SHA2({}, 256)", "('0x' || sha256({})[1:16])::UBIGINT", is_reversed=False)
"""A server without MD5 gets this one: MySQL has MD5 as a component since 9.6. It takes longer."""


def row_hash(connection: Connection[Any]) -> RowHash:
    """Return the fastest hash that the server has."""
    import pymysql

    try:
        rows_of(connection, "SELECT MD5('')")
    except pymysql.err.MySQLError:
        return SHA2
    return MD5


def _zeros() -> np.ndarray:
    return np.zeros(CHUNKS, np.uint64)


@dataclass(frozen=True)
class ChunkSums:
    """The number of rows of each chunk, and the XOR of their digests."""

    rows: np.ndarray = field(default_factory=_zeros)
    digests: np.ndarray = field(default_factory=_zeros)

    @property
    def total(self) -> int:
        """The number of all rows."""
        return int(self.rows.sum())

    def add(self, chunks: np.ndarray, rows: np.ndarray, digests: np.ndarray) -> None:
        """Add sums of other rows. No chunk is named twice."""
        self.rows[chunks] += rows
        self.digests[chunks] ^= digests

    def differing(self, other: ChunkSums) -> np.ndarray:
        """Return which chunks have other rows, in numerical order."""
        return np.flatnonzero((self.rows != other.rows) | (self.digests != other.digests))


@dataclass(frozen=True)
class ChunkList:
    """Sums of some chunks: their numbers, how many rows each has, and the XOR of their digests."""

    chunks: np.ndarray
    rows: np.ndarray
    digests: np.ndarray


def chunk_expression(table: DeclaredTable, key: Sequence[str], hash_function: RowHash) -> str:
    """Return the number of a row's chunk in the words of the server."""
    columns = [column for column in table.columns if column.name in key]
    return hash_function.on_server(row_expression(table, columns), 4)


def server_sums(snapshot: Snapshot, key: Sequence[str], hash_function: RowHash) -> ChunkSums:
    """Ask the server, which reads all rows once. Raises SourceUnavailableError."""
    table = snapshot.table
    digest = hash_function.on_server(row_expression(table, table.columns), 16)
    answer = snapshot.answer(
        f"SELECT {chunk_expression(table, key, hash_function)} AS chunk, COUNT(*), BIT_XOR({digest}) "
        f"FROM {table.quoted_name} GROUP BY chunk"
    )
    sums = ChunkSums()
    if answer:
        chunks, rows, digests = (np.array(column, np.uint64) for column in zip(*answer, strict=True))
        sums.add(chunks.astype(np.int64), rows, hash_function.row_numbers(digests))
    return sums


@dataclass(frozen=True)
class Digests:
    """Chunks and checksums of Arrow's rows, which have the columns of `table`. `key` are those of the record key."""

    table: DeclaredTable
    key: Sequence[str]
    hash_function: RowHash
    _duck: duckdb.DuckDBPyConnection

    def sums(self, batches: Iterable[pa.RecordBatch]) -> ChunkSums:
        """Return the sums of all rows."""
        sums = ChunkSums()
        names = [column.name for column in self.table.columns]
        for batch in batches:
            answer = self._answer(
                f"SELECT {self.hash_function.chunk_in_duckdb('key')} AS chunk, count(*) AS rows, "
                f"bit_xor({self.hash_function.number.format('row')}) AS digest FROM batch GROUP BY chunk",
                key=self._keys(batch),
                row=row_bytes(batch, names, self.table.charsets),
            )
            chunks, rows, digests = (answer[name].to_numpy() for name in ("chunk", "rows", "digest"))
            sums.add(self.hash_function.chunk_numbers(chunks), rows.astype(np.uint64), digests)
        return sums

    def grouped(self, rows: pa.RecordBatch, groups: np.ndarray) -> tuple[np.ndarray, ChunkList]:
        """Return sums of each group and chunk, in no order: the groups, and the sums. `groups` has the group of each row."""
        answer = self._answer(
            f"SELECT number, {self.hash_function.chunk_in_duckdb('key')} AS chunk, count(*) AS rows, "
            f"bit_xor({self.hash_function.number.format('row')}) AS digest FROM batch GROUP BY number, chunk",
            number=pa.array(groups),
            key=self._keys(rows),
            row=row_bytes(rows, [column.name for column in self.table.columns], self.table.charsets),
        )
        numbers, chunks, counts, sums = (answer[name].to_numpy() for name in ("number", "chunk", "rows", "digest"))
        return numbers, ChunkList(self.hash_function.chunk_numbers(chunks), counts.astype(np.uint64), sums)

    def chunks(self, rows: pa.RecordBatch) -> np.ndarray:
        """Return the chunk of each row."""
        answer = self._answer(
            f"SELECT {self.hash_function.chunk_in_duckdb('key')} AS chunk FROM batch", key=self._keys(rows)
        )
        return self.hash_function.chunk_numbers(answer["chunk"].to_numpy())

    def _keys(self, rows: pa.RecordBatch) -> pa.Array:
        names = [column.name for column in self.table.columns if column.name in self.key]
        return row_bytes(rows, names, self.table.charsets)

    def _answer(self, query: str, **columns: pa.Array) -> pa.Table:
        self._duck.register("batch", pa.table(columns))
        try:
            return self._duck.sql(query).to_arrow_table()
        finally:
            self._duck.unregister("batch")


@contextmanager
def digests(table: DeclaredTable, key: Sequence[str], hash_function: RowHash = MD5) -> Iterator[Digests]:
    """Yield what computes digests, with a database in memory of one thread: reading rows takes the others."""
    with _POOL.session() as duck:
        yield Digests(table, key, hash_function, duck)
