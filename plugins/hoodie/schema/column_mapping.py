"""Names of a table's columns in an older file of it, by their ids (decision 52)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.schema.internal import Column
from hoodie.schema.nested import list_offsets, null_mask, without_offset
from hoodie.schema.promotion import promoted
from hoodie.schema.timestamp_units import with_millis

_NOTHING = "@nothing"  # no name that a column can have


@dataclass(frozen=True)
class Renaming:
    """Maps the current names of one record's fields to the names in a file (None: absent). A column that is not in `stored` is
    found by its name. `below` are the parts of nested columns, by their current name.

    For an array and a map `below` has what is to do with the parts `element` or `value`. `kinds` are types of now that a file's
    values take by Hudi's rules (see `promoted`). `millis` are the table's columns with timestamps of milliseconds, which a file
    can label as microseconds (see `with_millis`). They are set at the top level only.
    """

    stored: Mapping[str, str | None] = field(default_factory=dict)
    below: Mapping[str, Renaming] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    millis: pa.Schema | None = None
    local_millis: bool = False  # also columns without a zone

    @property
    def changes(self) -> bool:
        """Return whether any column has another name, or can have another unit."""
        return bool(self.stored or self.below or self.kinds or self.millis is not None)

    def in_file(self, names: Sequence[str]) -> list[str]:
        """Names of these columns in a file, without those that it does not have."""
        result = (self.stored.get(name, name) for name in names)
        return [name for name in result if name is not None]

    def as_now(self, names: Iterable[str]) -> list[str]:
        """Current names of columns of a file, without those whose name belongs to another column."""
        now = {old: name for name, old in self.stored.items() if old is not None}
        return [now.get(name, name) for name in names if name in now or name not in self.stored]

    def untouched(self, names: Sequence[str]) -> bool:
        """Return whether the columns and all their parts have their names in the file."""
        return not any(name in self.stored or name in self.below for name in names)

    def apply(self, rows: pa.Table) -> pa.Table:
        """Rows of the file with the names of now. Columns whose name belongs to another column now are left out."""
        columns, fields = self._named([rows.column(place) for place in range(rows.num_columns)], list(rows.schema))
        if not columns:  # rows without columns count all the same
            return rows.select([])
        named = pa.table(columns, schema=pa.schema(fields))
        return named if self.millis is None else with_millis(named, self.millis, local=self.local_millis)

    def _named(self, columns: list[pa.ChunkedArray], fields: list[pa.Field]) -> tuple[list[pa.Array], list[pa.Field]]:
        names = {old: name for name, old in self.stored.items() if old is not None}
        mapped, named = [], []
        for column, stored_field in zip(columns, fields, strict=True):
            name = names.get(stored_field.name)
            if name is None:
                if stored_field.name in self.stored:
                    continue
                name = stored_field.name
            if name in self.below or name in self.kinds:
                column = self._changed(name, column)
            mapped.append(column)
            named.append(pa.field(name, column.type, stored_field.nullable))
        return mapped, named

    def _changed(self, name: str, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        if isinstance(column, pa.ChunkedArray):
            chunks = column.chunks or [pa.nulls(0, column.type)]
            return pa.chunked_array([self._changed(name, chunk) for chunk in chunks])
        below = self.below.get(name)
        return below.apply_to(column) if below is not None else self._promoted(name, column)

    def _promoted(self, name: str, array: pa.Array) -> pa.Array:
        try:
            return promoted(array, self.kinds[name])
        except pa.ArrowInvalid as error:
            raise SchemaConflictError(
                f"Column {name!r} has stored values that do not fit its type of now, {self.kinds[name]}",
                found=f"{array.type}: {error}",
                fix="change the column's type to one that holds them",
            ) from error

    def apply_to(self, array: pa.Array) -> pa.Array:
        """The values of a nested column with the names of now."""
        kind = array.type
        if pa.types.is_struct(kind):
            children, fields = self._named([array.field(place) for place in range(kind.num_fields)], list(kind.fields))
            if not fields:  # a struct without fields does not know how many rows it has
                children, fields = [pa.nulls(len(array))], [pa.field(_NOTHING, pa.null())]
            return pa.StructArray.from_arrays(children, fields=fields, mask=null_mask(array))
        plain = without_offset(array)
        if pa.types.is_map(kind):
            items = self._changed("value", plain.items)
            new_type = pa.map_(kind.key_type, kind.item_field.with_type(items.type))
            return pa.MapArray.from_arrays(plain.offsets, plain.keys, items, type=new_type, mask=null_mask(plain))
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            values = self._changed("element", plain.values)
            new_type = pa.list_(kind.value_field.with_type(values.type))
            return pa.ListArray.from_arrays(list_offsets(plain), values, type=new_type, mask=null_mask(plain))
        return array  # the file has another type than its schema says: the conversion of the rows raises the error


NO_RENAMING = Renaming()
"""For files that call all columns as the table does."""


def renaming(now: Sequence[Column], then: Sequence[Column]) -> Renaming:
    """How a file with the columns `then` calls those of `now`, both below one parent.

    A column whose id the file does not know is found by its name, as in Hudi, where its writers had not said yet which columns
    they have; but not where the name was that of another column.
    """
    by_id, names = {column.id: column for column in then}, {column.name for column in then}
    stored: dict[str, str | None] = {}
    below: dict[str, Renaming] = {}
    kinds: dict[str, str] = {}
    for column in now:
        old = by_id.get(column.id)
        if old is None:
            if column.name in names:
                stored[column.name] = None
            continue
        if old.name != column.name:
            stored[column.name] = old.name
        if old.kind != column.kind and not column.parts and not old.parts:
            kinds[column.name] = column.kind
        if old.kind == column.kind and column.parts:
            inner = renaming(column.parts, old.parts)
            if inner.changes:
                below[column.name] = inner
    return Renaming(stored, below, kinds)
