"""A table's entry as the command line of a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from hoodie.errors import RegistryError
from hudi_services.registry.model import Table


@dataclass(frozen=True)
class DateRange:
    """Days from `start` up to, but without, `stop`, of the dates that file paths carry."""

    start: date
    stop: date


def ingest_arguments(table: Table, dates: DateRange | None) -> list[str]:
    """Flags of the ingest program; `dates` None: every file that the checkpoint has not seen.

    Raises RegistryError for a table without a source, and for dates when its files carry none.
    """
    source, keys = table.source, table.keys
    if source is None or keys is None:
        raise RegistryError(f"Table {table.name} has no source to ingest from", fix="give it `source` and `keys`")
    flags = ["--target-base-path", table.base_path, "--source-path", source.path, "--source-format", source.format]
    if dates is not None:
        if source.date_pattern is None:
            raise RegistryError(
                f"Table {table.name} cannot be loaded by dates: the paths of its files carry none",
                fix="give `source.date_pattern`, or run without dates",
            )
        flags += ["--source-date-pattern", source.date_pattern]
        flags += ["--from", dates.start.isoformat(), "--to", dates.stop.isoformat()]
    flags += ["--operation", source.operation, "--create-table-version", str(table.version)]
    options = {
        "hoodie.table.name": table.name,
        "hoodie.table.type": table.type,
        "hoodie.datasource.write.recordkey.field": ",".join(keys.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(keys.partition_by),
        "hoodie.table.ordering.fields": ",".join(keys.ordering),
    }
    given = {name: value for name, value in options.items() if value}
    return flags + _options({**given, **table.hoodie, **table.ingest.hoodie})


def clean_arguments(table: Table, overrides: Mapping[str, str] | None = None) -> list[str]:
    """Flags of the cleaner; `overrides` are options that go before the table's own."""
    return ["--target-base-path", table.base_path, *_options({**table.clean.hoodie, **(overrides or {})})]


def _options(options: Mapping[str, str]) -> list[str]:
    return [flag for name, value in options.items() for flag in ("--hoodie-conf", f"{name}={value}")]
