"""Columns of the tables of one Hudi table, before anything runs: do they go together, and do expressions fit them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.keys.table import RECORD_KEY_FIELDS
from hoodie.errors import HoodieError
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.lake_columns import LakeColumns
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.mysql.binlog.decoding import Choices, may_be_text
from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.cdc.mysql.source_columns import schema_with_source, widest_inputs
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.databases.expressions import added_columns


@dataclass(frozen=True)
class Misfit:
    """A table whose columns do not go into the Hudi table, the reason and what helps."""

    table: CatalogTable
    reason: str
    fix: str


@dataclass(frozen=True)
class JoinedColumns:
    """The columns of tables that `rule` brings into one Hudi table."""

    rule: DatabaseRule
    tables: Sequence[CatalogTable]

    @property
    def choices(self) -> Choices:
        """The way in which values are read. Columns that are read as text are those of the rule that the tables have."""
        chosen = {name.lower() for name in self.rule.as_text}
        columns = {column for table in self.tables for column in table.columns if column.name.lower() in chosen}
        return Choices(self.rule.zero_dates, frozenset(column.name for column in columns if may_be_text(column)))

    @property
    def schema(self) -> pa.Schema:
        """The columns that the Hudi table gets. Columns of tables that do not go together with the others are left out."""
        joined, _ = self._joined(frozenset())
        try:
            return self._lake.schema(joined)
        except HoodieError:
            return joined  # a table that is loaded already: its load says why it cannot go on

    def misfits(self, running: frozenset[str]) -> Iterator[Misfit]:
        """Yield the tables that cannot be loaded with the others. Those that are `running` are never the ones."""
        joined, misfits = self._joined(running)
        yield from misfits
        wrong = {misfit.table.full_name for misfit in misfits} | running
        try:
            self._lake.schema(joined)
        except HoodieError as error:
            yield from (_misfit(table, error) for table in self.tables if table.full_name not in wrong)

    def _joined(self, running: frozenset[str]) -> tuple[pa.Schema, list[Misfit]]:
        """The columns of all, and the tables that clash with those before them. The columns of most tables count."""
        choices, known = self.choices, None
        schemas = {table.full_name: table.schema(choices) for table in self.tables}
        common = Counter(schemas.values())
        misfits: list[Misfit] = []
        ordered = sorted(
            self.tables, key=lambda table: (table.full_name not in running, -common[schemas[table.full_name]])
        )
        wrong: dict[pa.Schema, HoodieError | None] = {}
        for table in ordered:
            schema = schemas[table.full_name]
            if schema not in wrong:
                try:
                    known, wrong[schema] = self._with(known, schema, table), None
                except HoodieError as error:
                    wrong[schema] = error
            problem = wrong[schema]
            if problem is not None and table.full_name not in running:
                misfits.append(_misfit(table, problem))
        return known if known is not None else pa.schema([]), misfits

    def _with(self, known: pa.Schema | None, schema: pa.Schema, table: CatalogTable) -> pa.Schema:
        self._lake.check_key(schema, self._key(table), table.full_name)
        self._lake.check(schema, table.full_name)
        own = schema_with_source(schema) if self.rule.merge else schema
        return widest_inputs(known, self._lake.masked(own), self._lake.unstored(own))

    def _key(self, table: CatalogTable) -> Sequence[str]:
        """The columns of the record key."""
        return self.rule.hoodie[RECORD_KEY_FIELDS.name].split(",") if self.rule.names_key else table.key

    @property
    def _lake(self) -> LakeColumns:
        masks = {name.lower(): mask for name, mask in self.rule.masks.items()}
        return LakeColumns(
            Masks(masks, of_many=True, only=kept_columns(self.rule)),
            added_columns(self.rule),
            RowFilter(self.rule.where),
        )


def kept_columns(rule: DatabaseRule) -> frozenset[str]:
    """Return the only columns that reach the lake, in small letters. Empty: all do."""
    origin = (DATABASE_COLUMN, TABLE_COLUMN) if rule.merge else ()
    return frozenset(name.lower() for name in (*rule.columns, *origin)) if rule.columns else frozenset()


def _misfit(table: CatalogTable, error: HoodieError) -> Misfit:
    return Misfit(table, f"{error.what}: {error.found}" if error.found else error.what, error.fix or "")
