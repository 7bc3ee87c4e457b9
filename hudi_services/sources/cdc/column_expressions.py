"""Columns that a Hudi table has in addition to those of the server: values of expressions, the same by snapshots and changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SchemaConflictError
from hoodie.model.changes import AFTER, BEFORE

KEY = "hudi_services.cdc.added_columns"
"""The extra metadata of commits that holds `AddedColumns.text`."""


class Expressions(Protocol):
    """Expressions of the columns of one row, by the names of the columns that they make."""

    @property
    def texts(self) -> Mapping[str, str]:
        """The expressions as users wrote them."""

    def columns(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that they make of rows with the columns `schema`. Raises ConfigError where they do not fit."""

    def values(self, rows: pa.Table) -> pa.Table:
        """Return their values for each row. Raises SourceError for a row that has none."""


@dataclass(frozen=True)
class AddedColumns:
    """Columns that are added to rows after their masks, so that no expression sees a value that is to be hidden."""

    expressions: Expressions | None = None

    @property
    def names(self) -> frozenset[str]:
        """Their names in small letters."""
        return (
            frozenset(name.lower() for name in self.expressions.texts) if self.expressions is not None else frozenset()
        )

    @property
    def text(self) -> str:
        """The text that commits hold of the columns. Empty without any."""
        return json.dumps(dict(sorted(self.expressions.texts.items()))) if self.expressions is not None else ""

    def check(self, names: Iterable[str], table: str) -> None:
        """Raise SchemaConflictError where the server's table has a column of such a name."""
        for name in names:
            if name.lower() in self.names:
                raise SchemaConflictError(
                    f"The table {table} has a column {name!r}, and a column of this name is to be added",
                    fix="load into another path, with another name for the added column",
                )

    def schema(self, schema: pa.Schema, stored: pa.Schema | None) -> pa.Schema:
        """Return columns with the added ones. Columns of the table, `stored`, that rows lack are null in the expressions.

        Raises ConfigError where an expression does not fit the columns.
        """
        if self.expressions is None:
            return schema
        own = self._own(schema)
        return pa.schema([*own, *self.expressions.columns(self._known(own, stored))])

    def batch(self, rows: pa.RecordBatch, stored: pa.Schema | None) -> pa.RecordBatch:
        """Return rows with the added columns. Raises SourceError for a row of which an expression makes no value."""
        if self.expressions is None:
            return rows
        own = self._own(rows.schema)
        table = self._added(pa.Table.from_batches([rows]).select(own.names), stored)
        return pa.record_batch([column.combine_chunks() for column in table.columns], schema=table.schema)

    def changes(self, changes: pa.Table, stored: pa.Schema | None) -> pa.Table:
        """Return changes whose images have the added columns. Raises as `batch`."""
        for image in (BEFORE, AFTER) if self.expressions is not None else ():
            place = changes.schema.get_field_index(image)
            images = self._images(changes[image].combine_chunks(), stored)
            changes = changes.set_column(place, pa.field(image, images.type), images)
        return changes

    def _images(self, images: pa.StructArray, stored: pa.Schema | None) -> pa.StructArray:
        """Images with the added columns. Those that are null are not computed."""
        schema = pa.schema(list(images.type))
        own, has = self._own(schema), pc.is_valid(images)
        present = images.filter(has)
        columns = dict(zip(schema.names, present.flatten(), strict=True))
        rows = self._added(pa.table([columns[name] for name in own.names], schema=own), stored)
        places = pc.if_else(has, pc.subtract(pc.cumulative_sum(has.cast(pa.int64())), 1), None)
        fields = list(rows.schema)
        arrays = [rows[field.name].combine_chunks().take(places) for field in fields]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pc.invert(has))

    def _added(self, rows: pa.Table, stored: pa.Schema | None) -> pa.Table:
        assert self.expressions is not None, "the caller has checked it"
        known = self._known(rows.schema, stored)
        missing = [field for field in known if field.name not in rows.schema.names]
        full_rows = pa.table([*rows.columns, *(pa.nulls(rows.num_rows, field.type) for field in missing)], schema=known)
        values = self.expressions.values(full_rows)
        return pa.table([*rows.columns, *values.columns], schema=pa.schema([*rows.schema, *values.schema]))

    def _own(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([field for field in schema if field.name.lower() not in self.names])

    def _known(self, schema: pa.Schema, stored: pa.Schema | None) -> pa.Schema:
        names = {name.lower() for name in (*schema.names, *self.names)}
        return pa.schema([*schema, *(field for field in stored or () if field.name.lower() not in names)])


NOTHING_ADDED = AddedColumns()
