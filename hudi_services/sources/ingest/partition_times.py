"""Time partitions whose folders will be those of other times, as the declared types of their columns show.

It is no mistake: a table may have such folders from Hudi, and needs more of the same. A new table is refused by its first load.
"""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.config import CREATE_KEYS, select_keys
from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.properties.timebased import TimestampOptions, options_for
from hoodie.errors import HoodieError
from hudi_services.entry.feed.types import parse_type
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.source import FolderSource
from hudi_services.entry.table import Table

_HOLDS = {"timestamp": "timestamp", "timestamp_ntz": "timestamp", "date": "date"}


def misread_partitions(table: Table) -> Iterator[str]:
    """A line for each such partition column. Types of columns that `sql` makes are known only when it runs."""
    source, keys = table.folder, table.keys
    if source is None or keys is None or source.sql is not None:
        return
    try:
        table_options = {**options_of_new(table, keys), **table.hoodie}
        properties = new_table_properties(resolve(select_keys(table_options, CREATE_KEYS), CREATE_KEYS))
        fields = properties.timestamp_partition_fields
        options = TimestampOptions.of_properties(properties.raw) if fields else None
    except HoodieError:  # the first load reports it, too
        return
    for name in fields:
        holds = _HOLDS.get(_declared(source, name) or "")
        how = options.misreads(holds) if options is not None and holds is not None else None
        if how is not None and holds is not None:
            yield (
                f"partition column {name!r}: {how}, so the folders are those of other times; a new table needs "
                f"{options_for(holds)} (an existing one keeps what it has)"
            )


def _declared(source: FolderSource, name: str) -> str | None:
    """The type of a column of the table, in SQL's words."""
    if name in source.cast:
        return parse_type(source.cast[name]).name
    if name in source.timestamps:
        return "timestamp"
    old = next((old for old, new in source.rename.items() if new == name), name)
    return parse_type(source.columns[old].type).name if old in source.columns else None
