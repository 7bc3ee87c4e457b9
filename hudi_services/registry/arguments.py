"""A table's entry as the command line of a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from hoodie.config import select_keys
from hoodie.config.clean_keys import COMMITS_RETAINED, FILE_VERSIONS_RETAINED, HOURS_RETAINED, POLICY
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.table_keys import VERSION
from hoodie.errors import RegistryError
from hudi_services.registry.model import Keys, Table

_RETAINED: dict[str, ConfigKey[int]] = {
    "KEEP_LATEST_COMMITS": COMMITS_RETAINED,
    "KEEP_LATEST_FILE_VERSIONS": FILE_VERSIONS_RETAINED,
    "KEEP_LATEST_BY_HOURS": HOURS_RETAINED,
}


@dataclass(frozen=True)
class DateRange:
    """Days from `start` up to, but without, `stop`, of the dates that file paths carry; None leaves that side open."""

    start: date | None = None
    stop: date | None = None


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
        flags += ["--from", dates.start.isoformat()] if dates.start else []
        flags += ["--to", dates.stop.isoformat()] if dates.stop else []
    flags += ["--operation", source.operation, "--create-table-version", str(table.version)]
    if source.quarantine.path is not None:
        flags += ["--quarantine-path", source.quarantine.path]
    flags += ["--max-bad-share", str(source.quarantine.max_share)]
    return flags + _options({**_table_options(table, keys), **table.hoodie, **table.ingest.hoodie})


def clean_arguments(table: Table, policy: str | None = None, retained: int | None = None) -> list[str]:
    """Flags of the cleaner. `policy` and `retained` (commits, file versions or hours) go before the table's own options."""
    options = dict(table.clean.hoodie)
    if policy is not None:
        options = _replaced(options, POLICY, policy)
    if retained is not None:
        key = _RETAINED[resolve(select_keys(options, [POLICY]), [POLICY])[POLICY]]
        options = _replaced(options, key, str(retained))
    return ["--target-base-path", table.base_path, *_options(options)]


def compact_arguments(table: Table, mode: str) -> list[str]:
    """Flags of the compactor; `mode` is `schedule` or `execute`."""
    flags = ["--target-base-path", table.base_path, "--mode", mode]
    flags += ["--max-plans", str(table.compact.max_plans)] if mode == "execute" else []
    return flags + _options(table.compact.hoodie)


def bootstrap_arguments(table: Table, step: str) -> list[str]:
    """Flags of the bootstrap; `step` is `preflight`, `bootstrap` or `validate`. Raises RegistryError for a table without one."""
    plain, keys = table.bootstrap, table.keys
    if plain is None or keys is None:
        raise RegistryError(f"Table {table.name} has nothing to bootstrap", fix="give it `bootstrap` and `keys`")
    flags = ["--target-base-path", table.base_path, "--source-path", plain.source_path]
    flags += ["--source-format", plain.source_format, "--mode", plain.mode, "--mode-regex", plain.mode_regex]
    flags += ["--check-keys", plain.check_keys, "--step", step]
    version = {VERSION.name: str(table.version)}
    return flags + _options({**_table_options(table, keys), **version, **table.hoodie, **plain.hoodie})


def _table_options(table: Table, keys: Keys) -> dict[str, str]:
    """The options of a new table."""
    options = {
        "hoodie.table.name": table.name,
        "hoodie.table.type": table.type,
        "hoodie.datasource.write.recordkey.field": ",".join(keys.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(keys.partition_by),
        "hoodie.table.ordering.fields": ",".join(keys.ordering),
    }
    return {name: value for name, value in options.items() if value}


def _replaced(options: Mapping[str, str], key: ConfigKey[Any], value: str) -> dict[str, str]:
    """`options` with one value for `key`, under whichever of its names it stood."""
    return {name: given for name, given in options.items() if name not in key.names} | {key.name: value}


def _options(options: Mapping[str, str]) -> list[str]:
    return [flag for name, value in options.items() for flag in ("--hoodie-conf", f"{name}={value}")]
