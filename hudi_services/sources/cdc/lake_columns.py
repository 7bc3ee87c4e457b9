"""Rows of a Hudi table by those of the server: the filter first, then masks, then columns that are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.errors import ConfigError
from hudi_services.sources.cdc import column_expressions, masks, row_filter
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
from hudi_services.sources.cdc.row_filter import EVERY_ROW, RowFilter


@dataclass(frozen=True)
class LakeColumns:
    """A filter, masks and added columns, for rows of the server. `stored` are those of the Hudi table, where it is there.

    Methods raise ConfigError for an expression that does not fit the columns, SourceError for a row that it fails for.
    """

    masks: Masks = NO_MASKS
    added: AddedColumns = NOTHING_ADDED
    filter: RowFilter = EVERY_ROW
    stored: pa.Schema | None = None

    def check(self, columns: pa.Schema, table: str) -> None:
        """Raise SchemaConflictError or ConfigError for columns of a table whose rows cannot be made those of the Hudi table."""
        self.added.check(columns.names, self.masks, table)
        self.filter.check(self.masks.kept(columns), table)
        known = {name.lower() for name in columns.names}
        if any(name not in known and self._is_unstored(name) for name in self.added.inputs):
            self.schema(columns)  # no other table gives the column a type

    def check_key(self, columns: pa.Schema, key: Sequence[str], table: str) -> None:
        """Raise ConfigError where keys of the Hudi table would not be those of the server."""
        self.added.check_key(columns.names, key, table)
        self.masks.check(columns.names, [field for field in key if field.lower() not in self.added.names], table)

    def read(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns of the server that rows are made of, with their types there."""
        return self.masks.kept(schema, self.added.inputs)

    def masked(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that rows are made of, after their masks."""
        return self.masks.schema(schema, self.added.inputs)

    def carried(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns of the Hudi table that are those of the server, after their masks."""
        return pa.schema([field for field in self.masks.schema(schema) if field.name.lower() not in self.added.names])

    def unstored(self, stored: pa.Schema) -> frozenset[str]:
        """Return the names of columns, in small letters, whose values at the server the Hudi table does not have, but its rows
        depend on. `stored` are the columns of the Hudi table."""
        return (self.added.names | self.added.inputs) - {field.name.lower() for field in self.carried(stored)}

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that the Hudi table gets."""
        return self.added.schema(self.masked(schema), self.stored, self.masks)

    def batch(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows as the Hudi table gets them."""
        masked = self.masks.batch(self.filter.batch(rows), self.added.inputs)
        return self.added.batch(masked, self.stored, self.masks)

    def changes(self, changes: pa.Table) -> pa.Table:
        """Return changes with images as the Hudi table gets them."""
        masked = self.masks.changes(self.filter.changes(changes), self.added.inputs)
        return self.added.changes(masked, self.stored, self.masks)

    def keep_values(self, columns: pa.Schema) -> bool:
        """Return True where rows of the Hudi table have the values of the server's `columns`, and each row is there."""
        replaced = self.added.names & {name.lower() for name in columns.names}
        return self.masks.are_none and not self.filter.text and not replaced

    def _is_unstored(self, name: str) -> bool:
        return name in self.added.names or self.masks.of(name) == "drop"

    @property
    def texts(self) -> Mapping[str, str]:
        """The extra metadata of commits that says how the columns are made."""
        texts = {
            masks.KEY: self.masks.text,
            column_expressions.KEY: self.added.text,
            row_filter.KEY: self.filter.text,
        }
        return {name: text for name, text in texts.items() if text}

    def compare(self, load: Mapping[str, str], base_path: str) -> None:
        """Raise ConfigError where the extra metadata of a commit says another way: stored rows would have other values."""
        ways = (
            (masks.KEY, f"columns of {base_path} are masked", "masks", "masks, the `columns` and the hash_key"),
            (row_filter.KEY, f"rows of {base_path} are filtered", "filter", "filter"),
            (
                column_expressions.KEY,
                f"columns that are added to {base_path} are computed",
                "added columns",
                "expressions",
            ),
        )
        for key, aspect, noun, remedy in ways:
            stored, given = load.get(key, ""), self.texts.get(key, "")
            if stored != given:
                raise ConfigError(
                    f"The {aspect} in another way than this load would",
                    found=f"{stored or f'no {noun}'} in the table, {given or f'no {noun}'} here",
                    fix=f"use the {remedy} of the table, or load into another path",
                )


SERVER_COLUMNS = LakeColumns()
"""The columns of the server as they are."""
