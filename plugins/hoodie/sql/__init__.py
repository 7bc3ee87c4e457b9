"""SQL over Hudi tables: `connect(warehouse=…).sql("…")`. Text becomes statements, statements become calls of the library."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoodie.sql.catalog import Catalog, Entry
    from hoodie.sql.connection import Connection, connect
    from hoodie.sql.names import TableName
    from hoodie.sql.registry_catalog import ListedTables
    from hoodie.sql.result import Result
    from hoodie.sql.warehouse import Warehouse

__all__ = ["Catalog", "Connection", "Entry", "ListedTables", "Result", "TableName", "Warehouse", "connect"]

# A Python worker of Spark computes rows of a statement: without DuckDB and what comes with it the worker starts in half the time.
_LATER = {
    "Catalog": "hoodie.sql.catalog",
    "Connection": "hoodie.sql.connection",
    "Entry": "hoodie.sql.catalog",
    "ListedTables": "hoodie.sql.registry_catalog",
    "Result": "hoodie.sql.result",
    "TableName": "hoodie.sql.names",
    "Warehouse": "hoodie.sql.warehouse",
    "connect": "hoodie.sql.connection",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
