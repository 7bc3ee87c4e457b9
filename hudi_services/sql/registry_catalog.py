"""The tables of a registry as a catalog of SQL: with the options with which their loads write them."""

from __future__ import annotations

from pathlib import Path

from hoodie.config import select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.sql.catalog import DEFAULT_DATABASE, Entry
from hoodie.sql.names import TableName
from hoodie.sql.registry_catalog import ListedTables
from hudi_services.entry.retention import options_of
from hudi_services.entry.table import Table
from hudi_services.registry.load import Reading


def registered_tables(reading: Reading, file: Path) -> ListedTables:
    """The tables of a registry whose entries have no mistakes."""
    return ListedTables(f"registry {file}", [_entry(table) for table in reading.registry.tables])


def _entry(table: Table) -> Entry:
    return Entry(
        TableName(DEFAULT_DATABASE, table.name),
        table.base_path,
        managed=False,
        options=select_keys(options_of(table, table.loader), WRITE_OPTIONS.keys),
        comment=table.description or None,
    )
