"""The `hoodie.*` options of a table's entry, checked against the options that the library declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hoodie.config.clean_keys import CLEAN_KEYS
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.table_keys import (
    CREATE_KEYS,
    NAME,
    ORDERING_FIELDS,
    PARTITION_FIELDS,
    RECORD_KEY_FIELDS,
    TYPE,
    VERSION,
)
from hoodie.config.write_keys import WRITE_KEYS
from hoodie.errors import ConfigError
from hudi_services.registry.model import Table

Path = tuple[str, ...]

# These have a key of their own in the registry: saying them twice would let the two contradict each other.
_OWN: dict[ConfigKey[Any], str] = {
    NAME: "name",
    RECORD_KEY_FIELDS: "keys.record_key",
    PARTITION_FIELDS: "keys.partition_by",
    ORDERING_FIELDS: "keys.ordering",
    TYPE: "type",
    VERSION: "version",
}


def wrong_options(table: Table) -> Iterator[tuple[Path, str]]:
    """The path of each option that is unknown or has a value it cannot have, and what is wrong with it."""
    sections = (
        (("hoodie",), table.hoodie, CREATE_KEYS),
        (("ingest", "hoodie"), table.ingest.hoodie, WRITE_KEYS),
        (("clean", "hoodie"), table.clean.hoodie, CLEAN_KEYS),
    )
    for path, options, keys in sections:
        for name, message in _wrong(options, keys):
            yield (*path, name), message


def _wrong(options: Mapping[str, str], keys: tuple[ConfigKey[Any], ...]) -> Iterator[tuple[str, str]]:
    own = {name: where for key, where in _OWN.items() for name in key.names}
    for name, value in options.items():
        if name in own:
            yield name, f"is set by {own[name]!r}; remove it here"
            continue
        try:
            resolve({name: value}, keys)
        except ConfigError as error:
            yield name, str(error)
