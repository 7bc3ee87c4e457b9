"""Conditions that rows of the server meet to be in the lake. Rows of snapshots and of changes are compared by one function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import acero

from hoodie.errors import ArgumentError, ConfigError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.read.filters.text import parse_filter

KEY = "hudi_services.cdc.filter"
"""The extra metadata of commits that holds the condition."""


@dataclass(frozen=True)
class RowFilter:
    """The condition `text` over the columns of the server, in the grammar of filters of reads. Empty: all rows meet it.

    It sees values before masks. A row whose condition is unknown, by a null, is not in the lake. Text is compared byte by byte.
    """

    text: str = ""

    def check(self, schema: pa.Schema, table: str) -> None:
        """Raise ConfigError where the condition cannot be asked of rows with the columns `schema`."""
        if self.text:
            try:
                _expression(self.text, schema)
            except ArgumentError as error:
                raise ConfigError(
                    f"The rows of {table} cannot be filtered by {self.text:.200}",
                    found=f"{error.what}: {error.found}" if error.found else error.what,
                    fix=error.fix,
                ) from error

    def batch(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that meet the condition."""
        if not self.text or not rows.num_rows:
            return rows
        return rows.filter(self._meets(pa.Table.from_batches([rows])))

    def table(self, rows: pa.Table) -> pa.Table:
        """Return the rows that meet the condition."""
        return rows.filter(self._meets(rows)) if self.text and rows.num_rows else rows

    def changes(self, changes: pa.Table) -> pa.Table:
        """Return the changes of the rows that meet the condition: an update that lets a row in inserts it, one that takes it
        out deletes it."""
        if not self.text or not changes.num_rows:
            return changes
        before, after = (self._images(changes[image].combine_chunks()) for image in (BEFORE, AFTER))
        was, stays = pc.is_valid(before), pc.is_valid(after)
        ops = pc.case_when(pc.make_struct(pc.and_(was, stays), was), changes["op"].combine_chunks(), "d", "i")
        for name, values in (("op", ops), (BEFORE, before), (AFTER, after)):
            place = changes.schema.get_field_index(name)
            changes = changes.set_column(place, changes.schema.field(name), values)
        return changes.filter(pc.or_(was, stays))

    def _images(self, images: pa.StructArray) -> pa.StructArray:
        """Images with nulls in place of rows that do not meet the condition."""
        fields = list(images.type)
        arrays = images.flatten()
        meets = pc.and_(pc.is_valid(images), self._meets(pa.table(arrays, schema=pa.schema(fields))))
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pc.invert(meets))

    def _meets(self, rows: pa.Table) -> pa.Array:
        """True for the rows that meet the condition, in their order."""
        source = acero.Declaration("table_source", acero.TableSourceNodeOptions(rows))
        project = acero.ProjectNodeOptions([_expression(self.text, rows.schema)], ["meets"])
        plan = acero.Declaration("project", project, inputs=[source])
        meets = plan.to_table(use_threads=False)["meets"].combine_chunks()
        return pc.fill_null(meets, False)


EVERY_ROW = RowFilter()


@lru_cache(maxsize=1024)
def _expression(text: str, schema: pa.Schema) -> pc.Expression:
    return parse_filter(text, schema).cast(pa.bool_())
