"""Parts of a table's entry that are right by themselves and do not go together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hoodie.display import nearest_first
from hudi_services.entry.objectives import RESTORED_BY
from hudi_services.entry.source import DatabaseSource, FolderSource
from hudi_services.entry.table import Table
from hudi_services.services.entries import Entries, services_by_objectives


def contradictions(table: Table, pools: Mapping[str, int], entries: Entries) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key of each part that contradicts another one, with the mistake in words."""
    if table.source is not None and not isinstance(table.source, DatabaseSource) and table.keys is None:
        yield ("keys",), "is missing; a table with a source needs the columns of its record key"
    yield from _unknown_keys(table)
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


def _unknown_keys(table: Table) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns of keys, partitions and order that no row can have, as the source declares all columns. SQL may make others."""
    source, keys = table.source, table.keys
    if not isinstance(source, FolderSource) or not source.columns or keys is None:
        return
    if source.sql is not None or source.undeclared == "keep" or source.operation == "delete_partition":
        return
    names = [source.rename.get(name, name) for name in source.columns]
    used = {"record_key": keys.record_key, "partition_by": keys.partition_by, "ordering": keys.ordering}
    for key, columns in used.items():
        if key == "ordering" and source.operation == "delete":
            continue
        for column in columns:
            if re.split("[.:]", column)[0] not in names:
                near = f", such as {nearest_first(column, names)[0]}"
                message = (
                    f"{column} is not a column of the source: declare it in `schema`, or name one that is there{near}"
                )
                yield ("keys", key), message


def undeclared_pool(pool: str, pools: Mapping[str, int]) -> str | None:
    """Return the mistake of a pool that the section `pools` lacks, None for a declared one."""
    if pool == "default_pool" or pool in pools:
        return None
    return f"the pool {pool!r} is not declared; add it to the section pools with its slots"
