"""Rows of two sides with the same columns, compared by their keys: value by value, doubles bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.mysql.equality.row_text import row_bytes

_BITS = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}


@dataclass(frozen=True)
class RowDifference:
    """Rows that differ: rows that only the server has, rows that only the lake has, and pairs of one key with other values.

    `columns` has for each column of pairs in which of them it differs. `copies` are rows of keys that the lake has more than
    once, and `originals` the rows of the server with such keys.
    """

    missing: pa.Table
    surplus: pa.Table
    server: pa.Table
    lake: pa.Table
    columns: Mapping[str, np.ndarray]
    copies: pa.Table
    originals: pa.Table

    @property
    def count(self) -> int:
        """The number of rows that differ."""
        return int(self.missing.num_rows + self.surplus.num_rows + self.server.num_rows + self.copies.num_rows)

    def changes(self) -> pa.Table:
        """Changes that make the lake equal to the server but for the rows of keys with copies, which they delete: an upsert would
        write each copy."""
        steps = (("d", self.surplus, None), ("d", self.copies, None), ("i", None, self.missing))
        return pa.concat_tables([*(_changes(*step) for step in steps), _changes("u", self.lake, self.server)])

    def restored(self) -> pa.Table:
        """Changes that insert the rows of keys with copies after these were deleted."""
        return _changes("i", None, self.originals)


def without_keys(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Table:
    """Return the rows whose keys no other row has."""
    return (
        rows.filter(pc.invert(pc.is_in(key_bytes(rows, key), value_set=key_bytes(others, key))))
        if others.num_rows
        else rows
    )


def row_difference(server: pa.Table, lake: pa.Table, key: Sequence[str]) -> RowDifference:
    """Compare rows. Keys of the server differ from each other."""
    server_keys, lake_keys = key_bytes(server, key), key_bytes(lake, key)
    again = _repeated(lake_keys)
    copied = pc.is_in(lake_keys, value_set=lake_keys.filter(again))
    once, once_keys = lake.filter(pc.invert(copied)), lake_keys.filter(pc.invert(copied))
    in_copies = pc.is_in(server_keys, value_set=lake_keys.filter(copied))
    positions = pc.index_in(server_keys, value_set=once_keys)
    paired = positions.is_valid()
    both, other = server.filter(paired), once.take(positions.drop_null())
    columns = {name: _differing(both[name], other[name]) for name in server.schema.names}
    changed = np.logical_or.reduce(list(columns.values())) if both.num_rows else np.zeros(0, bool)
    return RowDifference(
        missing=server.filter(pc.and_(pc.invert(paired), pc.invert(in_copies))),
        surplus=once.filter(pc.invert(pc.is_in(once_keys, value_set=server_keys))),
        server=both.filter(pa.array(changed)),
        lake=other.filter(pa.array(changed)),
        columns={name: differs[changed] for name, differs in columns.items() if differs.any()},
        copies=lake.filter(copied),
        originals=server.filter(in_copies),
    )


def key_bytes(rows: pa.Table, key: Sequence[str]) -> pa.Array:
    """Return the bytes of the columns `key` of each row."""
    batches = [row_bytes(batch, key, {}) for batch in rows.to_batches()]
    return pa.concat_arrays([pa.array([], pa.binary()), *batches])


def _repeated(keys: pa.Array) -> pa.Array:
    """True for a key that precedes."""
    first = pc.index_in(keys, value_set=keys)
    return pc.not_equal(first, pa.array(np.arange(len(keys), dtype=np.int32)))


def _differing(one: pa.ChunkedArray, other: pa.ChunkedArray) -> np.ndarray:
    one, other = (_bits(column.combine_chunks()) for column in (one, other))
    differs = pc.not_equal(one, other).fill_null(False)
    return np.asarray(pc.or_(differs, pc.xor(one.is_null(), other.is_null())))


def _bits(column: pa.Array) -> pa.Array:
    """Zero and minus zero differ, and NaN is equal to itself."""
    return column.view(_BITS[column.type]) if column.type in _BITS else column


def changes_schema(rows: pa.Schema) -> pa.Schema:
    """Return the columns of changes of rows with these columns, those of `ChangeCollector`."""
    image = pa.struct(list(rows))
    return pa.schema([("op", pa.string()), ("number", pa.int64()), (BEFORE, image), (AFTER, image)])


def _changes(op: str, before: pa.Table | None, after: pa.Table | None) -> pa.Table:
    some = after if before is None else before
    assert some is not None
    schema = changes_schema(some.schema)
    count = some.num_rows
    images = [
        pa.nulls(count, schema.field(name).type) if image is None else image.to_struct_array().combine_chunks()
        for name, image in ((BEFORE, before), (AFTER, after))
    ]
    columns = [pa.repeat(pa.scalar(op), count), pa.array(np.zeros(count, np.int64)), *images]
    return pa.table(columns, schema=schema)
