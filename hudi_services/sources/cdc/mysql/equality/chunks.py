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

import duckdb
import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.equality.row_sql import row_expression
from hudi_services.sources.cdc.mysql.equality.row_text import row_bytes
from hudi_services.sources.cdc.mysql.snapshot import Snapshot

CHUNKS = 1 << 16
_CHUNK = "md5_number_upper(key) & 65535"  # the lowest byte is the first one of the MD5
_SUMS = f"""
SELECT {_CHUNK} AS chunk, count(*) AS rows, bit_xor(md5_number_upper(row)) AS digest FROM batch GROUP BY chunk
"""


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


def chunk_expression(table: DeclaredTable, key: Sequence[str]) -> str:
    """Return the number of a row's chunk in the words of the server."""
    columns = [column for column in table.columns if column.name in key]
    return f"CAST(CONV(LEFT(MD5({row_expression(table, columns)}), 4), 16, 10) AS UNSIGNED)"


def server_sums(snapshot: Snapshot, key: Sequence[str]) -> ChunkSums:
    """Ask the server, which reads all rows once. Raises SourceUnavailableError."""
    table = snapshot.table
    digest = f"CAST(CONV(LEFT(MD5({row_expression(table, table.columns)}), 16), 16, 10) AS UNSIGNED)"
    answer = snapshot.answer(
        f"SELECT {chunk_expression(table, key)} AS chunk, COUNT(*), BIT_XOR({digest}) FROM {table.quoted_name} GROUP BY chunk"
    )
    sums = ChunkSums()
    if answer:
        chunks, rows, digests = (np.array(column, np.uint64) for column in zip(*answer, strict=True))
        sums.add(chunks, rows, digests.byteswap())  # DuckDB takes the first byte for the lowest
    return sums


@dataclass(frozen=True)
class Digests:
    """Chunks and checksums of Arrow's rows, which have the columns of `table`. `key` are those of the record key."""

    table: DeclaredTable
    key: Sequence[str]
    _duck: duckdb.DuckDBPyConnection

    def sums(self, batches: Iterable[pa.RecordBatch]) -> ChunkSums:
        """Return the sums of all rows."""
        sums = ChunkSums()
        names = [column.name for column in self.table.columns]
        for batch in batches:
            answer = self._answer(_SUMS, key=self._keys(batch), row=row_bytes(batch, names, self.table.charsets))
            chunks, rows, digests = (answer[name].to_numpy() for name in ("chunk", "rows", "digest"))
            sums.add(_as_server(chunks), rows.astype(np.uint64), digests)
        return sums

    def chunks(self, rows: pa.RecordBatch) -> np.ndarray:
        """Return the chunk of each row."""
        answer = self._answer(f"SELECT {_CHUNK} AS chunk FROM batch", key=self._keys(rows))
        return _as_server(answer["chunk"].to_numpy())

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
def digests(table: DeclaredTable, key: Sequence[str]) -> Iterator[Digests]:
    """Yield what computes digests, with a database in memory of one thread: reading rows takes the others."""
    with duckdb.connect(":memory:", config={"threads": "1", "enable_external_access": "false"}) as duck:
        yield Digests(table, key, duck)


def _as_server(chunks: np.ndarray) -> np.ndarray:
    """The server takes the first byte for the highest."""
    return chunks.astype(np.uint16).byteswap().astype(np.int64)
