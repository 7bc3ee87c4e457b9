"""Checksums of the rows of many tables that are one Hudi table, by the chunks of their keys, in one pass over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.decimals import rescaled
from hudi_services.sources.cdc.mysql.equality.chunks import (
    CHUNKS,
    ChunkSums,
    Digests,
    RowHash,
    chunk_expression,
    digests,
)
from hudi_services.sources.cdc.mysql.equality.shards import ShardRows, rows_by_table
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN

_SUMS = 1 << 22  # sums for all tables: 64 MiB on each side
_FEWEST = 4


def chunk_bits(tables: int) -> int:
    """Return the number of bits of a chunk's number: a thousand tables have fewer chunks each."""
    return max(_FEWEST, min(CHUNKS.bit_length() - 1, (_SUMS // max(1, tables)).bit_length() - 1))


@dataclass
class ShardSums:
    """The number of rows and the XOR of the digests for each table and chunk.

    `unasked` counts values in columns that a table does not have, `others` are rows of no compared table.
    """

    rows: np.ndarray
    digests: np.ndarray
    unasked: dict[int, Counter[str]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def of(tables: int) -> ShardSums:
        """Return sums of nothing."""
        shape = (tables, 1 << chunk_bits(tables))
        return ShardSums(np.zeros(shape, np.uint64), np.zeros(shape, np.uint64))

    def put(self, number: int, sums: ChunkSums) -> None:
        """Set the sums of a table, which has smaller chunks."""
        width = self.rows.shape[1]
        self.rows[number] = sums.rows.reshape(width, -1).sum(axis=1, dtype=np.uint64)
        self.digests[number] = np.bitwise_xor.reduce(sums.digests.reshape(width, -1), axis=1)

    def differing(self, other: ShardSums) -> np.ndarray:
        """Return for each table which chunks have other rows."""
        return np.asarray((self.rows != other.rows) | (self.digests != other.digests))


@dataclass(frozen=True)
class _Layout:
    """Tables with the same columns: their rows are hashed together."""

    digests: Digests
    names: frozenset[str]

    def of_lake(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of these tables, with the values that the server has where both are the same number."""
        schema = self.digests.table.schema
        arrays = [as_declared(rows[column.name], column.type) for column in schema]
        return pa.record_batch(arrays, names=schema.names)

    def in_lake_types(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with the same values in the types of the Hudi table. Columns may be masked."""
        kinds = {column.name: column.type for column in self.digests.table.schema}
        arrays = [
            as_declared(rows[name], kinds[name]).cast(rows[name].type) if name in kinds else rows[name]
            for name in rows.schema.names
        ]
        return pa.record_batch(arrays, schema=rows.schema)


@dataclass(frozen=True)
class Layouts:
    """The columns of all tables, each once. `of` has the place of each table's."""

    rows: ShardRows
    hash_function: RowHash
    layouts: Sequence[_Layout]
    of: np.ndarray
    bits: int

    @property
    def share_chunks(self) -> bool:
        """True where a key has the same chunk in all tables."""
        keys = set()
        for layout in self.layouts:
            table = layout.digests.table
            columns = [column for column in table.schema if column.name in self.rows.table_key]
            texts = [str(column.type) if pa.types.is_decimal(column.type) else "" for column in columns]
            names = [column.name for column in columns]
            keys.add((*names, *texts, *(table.charsets.get(name, "") for name in names)))
        return len(keys) == 1

    def sums(self, batches: Iterator[tuple[pa.RecordBatch, np.ndarray]]) -> ShardSums:
        """Return the sums of rows of the lake, which come with the numbers of their tables."""
        sums = ShardSums.of(len(self.of))
        for batch, numbers in batches:
            sums.others += rows_by_table(batch.filter(pa.array(numbers < 0)))
            for layout, part, of_part in self._parts(batch, numbers):
                groups, listed = layout.digests.grouped(layout.of_lake(part), of_part)
                places = groups, listed.chunks >> (16 - self.bits)
                np.add.at(sums.rows, places, listed.rows)
                np.bitwise_xor.at(sums.digests, places, listed.digests)
                self._count_unasked(sums, layout, part, of_part)
        return sums

    def selected(
        self, batches: Iterator[tuple[pa.RecordBatch, np.ndarray]], chosen: np.ndarray | None, *, others: bool
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the lake in `chosen` chunks of each table (None: in all).

        With `others` also rows of no compared table, where any has chosen their chunk. Columns that a table does not have are
        null in its rows.
        """
        for batch, numbers in batches:
            for layout, part, of_part in self._parts(batch, numbers):
                if chosen is not None:
                    chunks = layout.digests.chunks(layout.of_lake(part)) >> (16 - self.bits)
                    part = part.take(pa.array(np.flatnonzero(chosen[of_part, chunks])))
                yield self._without_unasked(layout, layout.in_lake_types(part))
            if others and (numbers < 0).any():
                part = batch.filter(pa.array(numbers < 0))
                if chosen is not None:
                    chunks = self._key_chunks(part) >> (16 - self.bits)
                    part = part.take(pa.array(np.flatnonzero(np.logical_or.reduce(chosen, axis=0)[chunks])))
                yield part

    def _without_unasked(self, layout: _Layout, part: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [
            pa.nulls(part.num_rows, part[name].type) if name in self._unasked(layout) else part[name]
            for name in part.schema.names
        ]
        return pa.record_batch(arrays, schema=part.schema)

    def _unasked(self, layout: _Layout) -> set[str]:
        """The columns that these tables do not have, but those that say which row one is and where."""
        made = {*self.rows.key, *self.rows.located_by, DATABASE_COLUMN, TABLE_COLUMN}
        added = self.rows.target.added.names
        return {name for name in {*self.rows.schema.names} - layout.names - made if name.lower() not in added}

    def condition(self, number: int, chosen: np.ndarray) -> str:
        """Return the condition of SQL for rows of a table in `chosen` chunks. Empty for all of them."""
        chunks = np.flatnonzero(chosen)
        if len(chunks) == len(chosen):
            return ""
        chunk = chunk_expression(self.rows.shards[number].table, self.rows.table_key, self.hash_function)
        return f"({chunk} >> {16 - self.bits}) IN ({', '.join(map(str, chunks))})"

    def _key_chunks(self, part: pa.RecordBatch) -> np.ndarray:
        layout = self.layouts[0]
        key = [column for column in layout.digests.table.columns if column.name in self.rows.table_key]
        narrow = replace(
            layout, digests=replace(layout.digests, table=replace(layout.digests.table, columns=tuple(key)))
        )
        return narrow.digests.chunks(narrow.of_lake(part))

    def _parts(
        self, batch: pa.RecordBatch, numbers: np.ndarray
    ) -> Iterator[tuple[_Layout, pa.RecordBatch, np.ndarray]]:
        of_row = np.where(numbers < 0, -1, self.of[numbers])
        for place, layout in enumerate(self.layouts):
            places = np.flatnonzero(of_row == place)
            if len(places) == batch.num_rows:
                yield layout, batch, numbers
            elif len(places):
                yield layout, batch.take(pa.array(places)), numbers[places]

    def _count_unasked(self, sums: ShardSums, layout: _Layout, part: pa.RecordBatch, numbers: np.ndarray) -> None:
        for name in sorted(self._unasked(layout)):
            if part[name].null_count < part.num_rows:
                counts = np.bincount(numbers[np.asarray(part[name].is_valid())])
                for number in np.flatnonzero(counts).tolist():
                    sums.unasked.setdefault(number, Counter())[name] += int(counts[number])


@contextmanager
def layouts(rows: ShardRows, hash_function: RowHash) -> Iterator[Layouts]:
    """Yield the columns of all tables, with what computes digests of their rows."""
    places: dict[object, int] = {}
    distinct: list[_Layout] = []
    of = np.zeros(len(rows.shards), np.int64)
    with digests(rows.shards[0].table, rows.table_key, hash_function) as computed:
        for number, shard in enumerate(rows.shards):
            table = shard.table
            same = (table.columns, tuple(sorted(table.charsets.items())))
            if same not in places:
                places[same] = len(distinct)
                distinct.append(_Layout(replace(computed, table=table), frozenset(table.schema.names)))
            of[number] = places[same]
        yield Layouts(rows, hash_function, distinct, of, chunk_bits(len(rows.shards)))


def as_declared(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values of a wider type as the server's type has them, for types whose wider values have other digits.

    Values that the type does not have stay as they are, so they differ from all values of the server.
    """
    if pa.types.is_float32(kind) and pa.types.is_float64(values.type):
        single = values.cast(kind, safe=False)
        digits = single.cast(pa.string()).cast(values.type)  # older files have FLOAT: 1.1 of it is read as 1.1
        return pc.if_else(pc.equal(values, digits).fill_null(False), single.cast(values.type), values)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(values.type) and values.type.scale != kind.scale:
        try:
            return rescaled(values, kind)
        except pa.ArrowInvalid:
            return values
    return values
