"""SQL over Hudi tables: `connect(warehouse=…).sql("…")`. Text becomes statements, statements become calls of the library."""

from __future__ import annotations

from hoodie.sql.catalog import Catalog, Entry
from hoodie.sql.connection import Connection, connect
from hoodie.sql.names import TableName
from hoodie.sql.registry_catalog import ListedTables
from hoodie.sql.result import Result
from hoodie.sql.warehouse import Warehouse

__all__ = ["Catalog", "Connection", "Entry", "ListedTables", "Result", "TableName", "Warehouse", "connect"]
