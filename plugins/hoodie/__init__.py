"""A table-format library for Apache Hudi in Python: real Hudi tables, written, read and serviced on Arrow columns."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hoodie.errors import HoodieError

if TYPE_CHECKING:
    from hoodie import spark
    from hoodie.table import HoodieTable

__all__ = ["HoodieError", "HoodieTable", "spark"]


def __getattr__(name: str) -> Any:
    # Arrow takes a third of a second to load. Airflow parses DAG files all the time and wants only errors and option names.
    if name == "HoodieTable":
        from hoodie.table import HoodieTable

        return HoodieTable
    if name == "spark":  # `import hoodie` is enough to say `hoodie.spark.read`; PySpark loads then
        return importlib.import_module("hoodie.spark")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
