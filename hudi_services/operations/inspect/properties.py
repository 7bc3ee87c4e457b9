"""The table's properties, as `hoodie.properties` has them."""

from __future__ import annotations

from hudi_services.operations.inspect.page import Lines, Page
from hudi_services.operations.inspect.table_look import Look


def properties(look: Look) -> Page:
    raw = dict(sorted(look.state.properties.raw.items()))
    return Page(raw, [Lines([f"{name}={value}" for name, value in raw.items()])])
