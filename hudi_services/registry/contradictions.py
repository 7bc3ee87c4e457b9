"""Parts of a table's entry that are right by themselves and do not go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hudi_services.entry.objectives import RESTORED_BY
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.services.entries import Entries, services_by_objectives


def contradictions(table: Table, pools: Mapping[str, int], entries: Entries) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key of each part that contradicts another one, with the mistake in words."""
    if table.source is not None and not isinstance(table.source, DatabaseSource) and table.keys is None:
        yield ("keys",), "is missing; a table with a source needs the columns of its record key"
    for entry in entries:
        if (section := entry.section_of(table)) is not None:
            yield from entry.section.contradictions(table, section)
    for service in services_by_objectives(table, entries):
        restored = [name for name, mends in RESTORED_BY.items() if mends == service]
        if not any(getattr(table.objectives, name) is not None for name in restored):
            message = f"needs an objective that it restores: {' or '.join(f'objectives.{name}' for name in restored)}"
            yield (service, "schedule"), message
    if wrong := undeclared_pool(table.pool, pools):
        yield ("pool",), wrong


def undeclared_pool(pool: str, pools: Mapping[str, int]) -> str | None:
    """Return the mistake of a pool that the section `pools` lacks, None for a declared one."""
    if pool == "default_pool" or pool in pools:
        return None
    return f"the pool {pool!r} is not declared; add it to the section pools with its slots"
