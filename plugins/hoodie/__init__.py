"""A table-format library for Apache Hudi in Python: real Hudi tables, written, read and serviced on Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hoodie.errors import HoodieError

if TYPE_CHECKING:
    from hoodie.table import HoodieTable

__all__ = ["HoodieError", "HoodieTable"]


def __getattr__(name: str) -> Any:
    # Arrow takes a third of a second to load. Airflow parses DAG files all the time and wants only errors and option names.
    if name == "HoodieTable":
        from hoodie.table import HoodieTable

        return HoodieTable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
