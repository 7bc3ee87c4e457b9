"""The model of a table's entry, with the sections of all services."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import create_model

from hudi_services.entry.table import Table
from hudi_services.services.entries import Entries


@lru_cache
def table_model(entries: Entries) -> type[Table]:
    """`Table` with a section for each of the services."""
    sections: dict[str, Any] = {
        entry.name: (entry.section.kind, entry.section.kind())
        if entry.section.always
        else (entry.section.kind | None, None)
        for entry in entries
    }
    return create_model("Table", __base__=Table, **sections)
