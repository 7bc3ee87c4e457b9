"""SQL over Hudi tables: `connect(warehouse=…).sql("…")`. Text becomes statements, statements become calls of the library."""

from __future__ import annotations

from hoodie.sql.connection import Connection, connect
from hoodie.sql.result import Result

__all__ = ["Connection", "Result", "connect"]
