"""The options that a new table gets from its entry."""

from __future__ import annotations

from hudi_services.entry.table import Keys, Table

_NO_KEYS = Keys.model_construct(record_key=(), partition_by=(), ordering=())


def options_of_new(table: Table, keys: Keys | None) -> dict[str, str]:
    """The options that the entry's own keys set. Without `keys` the table has no record key."""
    keys = keys if keys is not None else _NO_KEYS
    options = {
        "hoodie.table.name": table.name,
        "hoodie.table.type": table.type,
        "hoodie.datasource.write.recordkey.field": ",".join(keys.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(keys.partition_by),
        "hoodie.table.ordering.fields": ",".join(keys.ordering),
    }
    return {name: value for name, value in options.items() if value}
