"""The `hoodie.*` options of a table's entry, checked against the options that the library declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hoodie.config import Service, bootstrap_keys
from hoodie.config.after_write_keys import AFTER_WRITE_KEYS
from hoodie.config.bootstrap_keys import BOOTSTRAP_KEYS
from hoodie.config.clean_keys import CLEAN_KEYS
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.ingest_keys import SOURCE_ROOT
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.own import SERVICE_KEYS, check_option, declared
from hoodie.config.sync_keys import PASSWORD, SYNC_KEYS
from hoodie.config.table_keys import (
    CREATE_KEYS,
    NAME,
    ORDERING_FIELDS,
    PARTITION_FIELDS,
    RECORD_KEY_FIELDS,
    TYPE,
    VERSION,
)
from hoodie.config.write_keys import OPERATION, WRITE_KEYS
from hoodie.errors import ConfigError

# These have a key of their own in the registry: saying them twice would let the two contradict each other.
_OWN: dict[ConfigKey[Any], str] = {
    NAME: "name",
    RECORD_KEY_FIELDS: "keys.record_key",
    PARTITION_FIELDS: "keys.partition_by",
    ORDERING_FIELDS: "keys.ordering",
    TYPE: "type",
    VERSION: "version",
    OPERATION: "source.operation",
    SOURCE_ROOT: "source.path",
    bootstrap_keys.SOURCE: "bootstrap.source_path",
    bootstrap_keys.SOURCE_FORMAT: "bootstrap.source_format",
    bootstrap_keys.MODE: "bootstrap.mode",
    bootstrap_keys.MODE_REGEX: "bootstrap.mode_regex",
    bootstrap_keys.CHECK_KEYS: "bootstrap.check_keys",
}
_OWN_NAMES = {name: where for key, where in _OWN.items() for name in key.names}
_SECRETS = frozenset(PASSWORD.names)
_PASSWORD_IN_ADDRESS = re.compile(r"(?i)(password=)[^;]*")
# An ingestion takes the options of the services that may follow its commit, too.
_WITH_SERVICES = (*WRITE_KEYS, *AFTER_WRITE_KEYS, *CLEAN_KEYS, *COMPACTION_KEYS, *SYNC_KEYS)
_SECTIONS: tuple[tuple[tuple[str, ...], tuple[ConfigKey[Any], ...], tuple[Service, ...]], ...] = (
    (("hoodie",), CREATE_KEYS, (Service.WRITE,)),
    (("ingest", "hoodie"), _WITH_SERVICES, (Service.INGEST, Service.WRITE)),
    (("clean", "hoodie"), CLEAN_KEYS, (Service.CLEAN,)),
    (("compact", "hoodie"), COMPACTION_KEYS, (Service.COMPACT,)),
    (("sync", "hoodie"), SYNC_KEYS, (Service.SYNC,)),
    (("bootstrap", "hoodie"), BOOTSTRAP_KEYS, (Service.BOOTSTRAP,)),
)


def wrong_options(entry: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The path of each option of a table's entry that is unknown or has a value it cannot have, and what is wrong with it."""
    for path, keys, services in _SECTIONS:
        options: Any = entry
        for step in path:
            options = options.get(step) if isinstance(options, dict) else None
        for name, value in options.items() if isinstance(options, dict) else ():
            if (message := _wrong(name, value, keys, services)) is not None:
                yield (*path, name), message


def shown_options(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Options in order, as people may see them: without passwords, also those within a JDBC URL."""
    for name, value in sorted(options.items()):
        if name not in _SECRETS:
            yield name, _PASSWORD_IN_ADDRESS.sub(r"\1…", value)


def _wrong(name: str, value: object, keys: tuple[ConfigKey[Any], ...], services: tuple[Service, ...]) -> str | None:
    if name in _OWN_NAMES:
        return f"is set by the key {_OWN_NAMES[name]!r}; remove it here"
    try:
        key = declared(name)
        if key is None:
            check_option(name, value, *services)
        elif key in keys:
            resolve({name: value}, keys)
        else:
            takers = [service.value for service, taken in SERVICE_KEYS.items() if key in taken]
            return f"Option {name!r} is not known here: it is one of {', '.join(takers)}"
    except ConfigError as error:
        return str(error)
    return None
