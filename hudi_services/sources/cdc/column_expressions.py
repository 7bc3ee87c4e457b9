"""Columns that a Hudi table has in addition to those of the server: values of expressions, the same by snapshots and changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.masks import NO_MASKS, Masks

KEY = "hudi_services.cdc.added_columns"
"""The extra metadata of commits that holds `AddedColumns.text`."""


class Expressions(Protocol):
    """Expressions of the columns of one row, by the names of the columns that they make."""

    @property
    def texts(self) -> Mapping[str, str]:
        """The expressions as users wrote them."""

    @property
    def inputs(self) -> Mapping[str, frozenset[str]]:
        """The names in each expression, in small letters. Those of all columns that it reads are among them."""

    def columns(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that they make of rows with the columns `schema`. Raises ConfigError where they do not fit."""

    def values(self, rows: pa.Table) -> pa.Table:
        """Return their values for each row. Raises SourceError for a row that has none."""


@dataclass(frozen=True)
class AddedColumns:
    """Columns that are added to rows after their masks, so that expressions see masked values.

    A column takes the place of that of the server with its name. Expressions read the server's one. They also read columns that
    `masks` drop, which are in the rows here and not in the results.
    """

    expressions: Expressions | None = None

    @property
    def names(self) -> frozenset[str]:
        """Their names in small letters."""
        return (
            frozenset(name.lower() for name in self.expressions.texts) if self.expressions is not None else frozenset()
        )

    @property
    def inputs(self) -> frozenset[str]:
        """The names in all expressions, in small letters."""
        return frozenset().union(*self.expressions.inputs.values()) if self.expressions is not None else frozenset()

    @property
    def text(self) -> str:
        """The text that commits hold of the columns. Empty without any."""
        return json.dumps(dict(sorted(self.expressions.texts.items()))) if self.expressions is not None else ""

    def check(self, names: Iterable[str], masks: Masks, table: str) -> None:
        """Raise SchemaConflictError where the server's table has a column of such a name that is not left out by name.

        It may be one that was added to the server's table later. An expression that reads the column itself, and a mask that
        drops it, say that it is left out.
        """
        for name in names:
            if name.lower() in self.names and not self._reads_itself(name.lower()) and masks.of(name) != "drop":
                raise SchemaConflictError(
                    f"The table {table} has a column {name!r}, and a column of this name is to be added",
                    fix=f"leave the server's column out (`masks: {{{name}: drop}}`, EXCLUDING COLUMNS ({name})), or give the "
                    "added column another name. Load into another path then",
                )

    def check_key(self, names: Iterable[str], key: Iterable[str], table: str) -> None:
        """Raise ConfigError where a column would take the place of one of the key: rows would have other keys at the server."""
        known = {name.lower() for name in names}
        for field in key:
            if field.lower() in self.names & known:
                raise ConfigError(
                    f"The column {field!r} is a part of the key of {table}, so no expression can take its place",
                    found="two rows of the server could get one key",
                    fix="give the column of the expression another name",
                )

    def schema(self, schema: pa.Schema, stored: pa.Schema | None, masks: Masks = NO_MASKS) -> pa.Schema:
        """Return columns with the added ones. Columns of the table, `stored`, that rows lack are null in the expressions.

        Raises ConfigError where an expression does not fit the columns.
        """
        if self.expressions is None:
            return schema
        added = self.expressions.columns(self._known(schema, stored))
        return pa.schema(self._results(schema, added, masks))

    def batch(self, rows: pa.RecordBatch, stored: pa.Schema | None, masks: Masks = NO_MASKS) -> pa.RecordBatch:
        """Return rows with the added columns. Raises SourceError for a row of which an expression makes no value."""
        if self.expressions is None:
            return rows
        table = self._added(pa.Table.from_batches([rows]), stored, masks)
        return pa.record_batch([column.combine_chunks() for column in table.columns], schema=table.schema)

    def changes(self, changes: pa.Table, stored: pa.Schema | None, masks: Masks = NO_MASKS) -> pa.Table:
        """Return changes whose images have the added columns. Raises as `batch`."""
        for image in (BEFORE, AFTER) if self.expressions is not None else ():
            place = changes.schema.get_field_index(image)
            images = self._images(changes[image].combine_chunks(), stored, masks)
            changes = changes.set_column(place, pa.field(image, images.type), images)
        return changes

    def _images(self, images: pa.StructArray, stored: pa.Schema | None, masks: Masks) -> pa.StructArray:
        """Images with the added columns. Those that are null are not computed."""
        has = pc.is_valid(images)
        present = images.filter(has)
        rows = self._added(pa.table(present.flatten(), schema=pa.schema(list(images.type))), stored, masks)
        places = pc.if_else(has, pc.subtract(pc.cumulative_sum(has.cast(pa.int64())), 1), None)
        fields = list(rows.schema)
        arrays = [rows[field.name].combine_chunks().take(places) for field in fields]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pc.invert(has))

    def _added(self, rows: pa.Table, stored: pa.Schema | None, masks: Masks) -> pa.Table:
        assert self.expressions is not None, "the caller has checked it"
        known = self._known(rows.schema, stored)
        missing = [field for field in known if field.name not in rows.schema.names]
        full_rows = pa.table([*rows.columns, *(pa.nulls(rows.num_rows, field.type) for field in missing)], schema=known)
        values = self.expressions.values(full_rows)
        fields = self._results(rows.schema, values.schema, masks)
        arrays = [(values if field.name.lower() in self.names else rows)[field.name] for field in fields]
        return pa.table(arrays, schema=pa.schema(fields))

    def _results(self, schema: pa.Schema, added: pa.Schema, masks: Masks) -> list[pa.Field]:
        """The columns of rows: those that take the place of one are where it was, the others come last."""
        new = {field.name.lower(): field for field in added}
        kept = {field.name.lower(): field for field in masks.kept(schema)}
        places = [name for field in schema if (name := field.name.lower()) in kept or name in new]
        return [new.get(name) or kept[name] for name in dict.fromkeys([*places, *new])]

    def _known(self, schema: pa.Schema, stored: pa.Schema | None) -> pa.Schema:
        names = {name.lower() for name in (*schema.names, *self.names)}
        return pa.schema([*schema, *(field for field in stored or () if field.name.lower() not in names)])

    def _reads_itself(self, name: str) -> bool:
        assert self.expressions is not None, "a column has this name"
        return any(made.lower() == name and name in inputs for made, inputs in self.expressions.inputs.items())


NOTHING_ADDED = AddedColumns()
