"""Rows of a Hudi table by those of the server: the filter first, then masks, then columns that are added."""

from __future__ import annotations

from collections.abc import Mapping
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

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that the Hudi table gets."""
        return self.added.schema(self.masks.schema(schema), self.stored)

    def batch(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows as the Hudi table gets them."""
        return self.added.batch(self.masks.batch(self.filter.batch(rows)), self.stored)

    def changes(self, changes: pa.Table) -> pa.Table:
        """Return changes with images as the Hudi table gets them."""
        return self.added.changes(self.masks.changes(self.filter.changes(changes)), self.stored)

    @property
    def keep_values(self) -> bool:
        """True where rows of the Hudi table have the values of the server, and each row of the server is there."""
        return self.masks.are_none and not self.filter.text

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
