"""A table's merge rules as the mergers need them (format notes, section 7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.merge import Deletion
from hoodie.config.properties.table import TableProperties
from hoodie.errors import SchemaConflictError
from hoodie.merge.batch import IDENTITY, latest_per_key
from hoodie.merge.partial import PartialUpdate, folded_per_key
from hoodie.model.meta_columns import IS_DELETED, OPERATION, RECORD_KEY
from hoodie.schema import find_field, top_level


@dataclass(frozen=True)
class MergeRules:
    """How a table merges. `ordering` decides between rows of logs or of a batch, `base_ordering` against stored ones.

    They differ in version 6 with payload classes that let the later write win: there any log row beats the base file's.
    `deletion` makes a row a deletion, as do `_hoodie_is_deleted` and `_hoodie_operation`.
    """

    ordering: tuple[str, ...]
    base_ordering: tuple[str, ...]
    deletion: Deletion | None = None
    partial: PartialUpdate | None = None

    def columns(self, schema: pa.Schema) -> list[str]:
        """The columns of `schema` that merging has to see."""
        field = self.deletion.field if self.deletion is not None else None
        required = (*top_level((*self.ordering, *self.base_ordering)), IS_DELETED, OPERATION, field)
        return [name for name in dict.fromkeys(required) if name is not None and name in schema.names]

    def check_ordering(self, columns: pa.Schema) -> None:
        """Raises SchemaConflictError when a field that decides against stored rows is not in the `columns`: Hudi fails there."""
        missing = next((name for name in self.base_ordering if find_field(columns, name) is None), None)
        if missing is not None:
            raise SchemaConflictError(
                f"Ordering field {missing!r} is not in the table's schema, so rows of its logs cannot be merged",
                found=f"hoodie.table.ordering.fields={','.join(self.base_ordering)}",
                fix="correct that property in .hoodie/hoodie.properties, or read base files alone by read_optimized=True",
            )

    def copied(self, schema: pa.Schema, keys: Iterable[str]) -> frozenset[str]:
        """The text columns of `schema` at whose values of stored rows a merge does not look; `keys` are those that record keys
        are made of."""
        if self.partial is not None:  # values are compared with the marker of one that is not given
            return frozenset()
        text = frozenset(field.name for field in schema if field.type == pa.string())
        return text.difference([RECORD_KEY, *self.base_ordering, *keys])

    def deletes(self, rows: pa.Table) -> pa.ChunkedArray | pa.Array:
        """Boolean per row: it is a deletion."""
        result = pa.repeat(False, rows.num_rows)
        names = rows.schema.names
        if IS_DELETED in names:
            result = pc.or_(result, pc.fill_null(rows[IS_DELETED], False))
        if OPERATION in names:
            result = pc.or_(result, pc.fill_null(pc.equal(rows[OPERATION], "D"), False))
        return pc.or_(result, self.marked(rows))

    def marked(self, rows: pa.Table) -> pa.ChunkedArray | pa.Array:
        """Boolean per row: its delete field is the delete marker."""
        if self.deletion is None or self.deletion.field not in rows.schema.names:
            return pa.repeat(False, rows.num_rows)
        return pc.fill_null(_marked(rows[self.deletion.field], self.deletion), False)

    def check_mark(self, columns: pa.Schema) -> None:
        """Raises SchemaConflictError when the delete field is one of `columns` and its values are not text to compare."""
        field = self.deletion.field if self.deletion is not None else None
        if field not in columns.names:
            return
        kind = columns.field(field).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise SchemaConflictError(
                f"Column {field!r}, which marks deletions (hoodie.payload.delete.field), has a type without a text",
                found=str(kind),
                fix="mark deletions in a column of text",
            )

    @property
    def marked_in_blocks(self) -> bool:
        """Return whether rows with the delete marker go to logs as delete blocks: Hudi 1.2.0 does not look for it in logged
        rows."""
        return self.deletion is not None and not self.deletion.by_payload_class


def merge_rules(properties: TableProperties) -> MergeRules:
    """How the table merges. Raises UnsupportedTableError for custom mergers, ConfigError for half a delete marker."""
    merging = properties.merging
    partial = PartialUpdate(merging.unavailable, not merging.whole_logs) if merging.partial is not None else None
    return MergeRules(properties.precombine_fields, properties.merge_ordering_fields, merging.deletion, partial)


def combined_batch(rows: pa.Table, rules: MergeRules, identity: Sequence[str] = IDENTITY) -> pa.Table:
    """The row to write of those in a batch that share `identity`; columns as `latest_per_key` wants. Rows that fill each other
    share partition path and record key."""
    if rules.partial is not None and rules.partial.between_logs:
        return folded_per_key(rows, rules.ordering, rules.partial)
    return latest_per_key(rows, rules.ordering, identity)


def _marked(column: pa.ChunkedArray, deletion: Deletion) -> pa.ChunkedArray:
    values, marker = pc.cast(column, pa.string()), deletion.marker
    if deletion.ignore_case:
        values, marker = pc.ascii_lower(values), marker.lower()
    return pc.equal(values, marker)
