"""A catalog in memory that can fail on request."""

from __future__ import annotations

from dataclasses import replace

from hoodie.errors import CatalogError, SchemaConflictError
from hoodie.sync.model import (
    AddColumns,
    AddPartitions,
    CreateDatabase,
    CreateTable,
    DropPartitions,
    MovePartitions,
    ReplaceColumns,
    SetProperties,
    SetSerdeProperties,
)


class MemoryCatalog:
    """Databases, tables and partitions as a metastore keeps them.

    `fail_at`: the number of the action that fails, from 0; `refuses`: the kind of action that it has no words for.
    """

    def __init__(self, takes_spark_properties=True):
        self.takes_spark_properties = takes_spark_properties
        self.databases = {"default"}
        self.tables = {}
        self.parts = {}
        self.applied = 0
        self.asked = []
        self.fail_at = None
        self.refuses = None

    def __call__(self, options):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def has_database(self, database):
        return database in self.databases

    def table(self, database, name):
        return self.tables.get(f"{database}.{name}")

    def partitions(self, table, values):
        self.asked.append(values)
        known = self.parts[table.full_name]
        return [part for part in known.values() if values is None or part.values in values]

    def check(self, action):
        if self.refuses is not None and isinstance(action, self.refuses):
            raise SchemaConflictError("the catalog cannot do this")

    def apply(self, action):
        if self.applied == self.fail_at:
            raise CatalogError("the catalog is down")
        self.applied += 1
        if isinstance(action, CreateDatabase):
            self.databases.add(action.database)
            return
        name = action.table.full_name
        if isinstance(action, CreateTable):
            assert action.table.database in self.databases
            self.tables[name] = action.table
            self.parts[name] = {}
            return
        table, parts = self.tables[name], self.parts[name]
        if isinstance(action, AddColumns):
            self.tables[name] = replace(table, columns=(*table.columns, *action.columns))
        elif isinstance(action, ReplaceColumns):
            self._check_positions(table.columns, action.columns)
            self.tables[name] = replace(table, columns=action.columns)
        elif isinstance(action, SetProperties):
            self.tables[name] = replace(table, properties={**table.properties, **action.properties})
        elif isinstance(action, SetSerdeProperties):
            self.tables[name] = replace(table, serde_properties={**table.serde_properties, **action.properties})
        elif isinstance(action, AddPartitions | MovePartitions):
            parts.update({part.values: part for part in action.partitions})
        elif isinstance(action, DropPartitions):
            for part in action.partitions:
                parts.pop(part.values, None)

    @staticmethod
    def _check_positions(old, new):
        """As Hive's metastore does by default: types are compared position by position."""
        for before, after in zip(old, new, strict=False):
            wider = {("int", "bigint"), ("float", "double")}
            assert before.type == after.type or (before.type, after.type) in wider, (before, after)

    def values(self, name):
        return sorted(self.parts[name])
