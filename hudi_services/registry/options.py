"""The `hoodie.*` options of a table's entry, checked against the options that the library declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hoodie.config.groups import GROUPS, WRITE_OPTIONS, OptionGroup
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.keys.concurrency import COMMON_KEYS
from hoodie.config.keys.table import (
    CREATE_KEYS,
    ORDERING_FIELDS,
    PARTITION_FIELDS,
    RECORD_KEY_FIELDS,
    TYPE,
    VERSION,
)
from hoodie.config.service_options import check_option, declared
from hoodie.errors import ConfigError
from hudi_services.services.entries import ENTRIES, Entries

# These have a key of their own in the registry: saying them twice would let the two contradict each other. The name of an entry
# may differ from that of its table, as of a copy.
_OWN: dict[ConfigKey[Any], str] = {
    RECORD_KEY_FIELDS: "keys.record_key",
    PARTITION_FIELDS: "keys.partition_by",
    ORDERING_FIELDS: "keys.ordering",
    TYPE: "type",
    VERSION: "version",
}
_PASSWORD_IN_ADDRESS = re.compile(r"(?i)(password=)[^;]*")


def wrong_options(entry: Mapping[str, Any], services: Entries = ENTRIES) -> Iterator[tuple[tuple[str, ...], str]]:
    """The path of each option of a table's entry that is unknown or has a value it cannot have, and what is wrong with it."""
    own = {service.name: _names(service.section.replaced) for service in services}
    instead = {name: where for names in reversed(own.values()) for name, where in names.items()} | _names(_OWN)
    sections: list[tuple[tuple[str, ...], tuple[ConfigKey[Any], ...], tuple[OptionGroup, ...]]] = [
        (("hoodie",), (*CREATE_KEYS, *COMMON_KEYS), (WRITE_OPTIONS,))
    ]
    sections += [((service.name, "hoodie"), service.section.keys, service.section.options) for service in services]
    places = {".".join(path): keys for path, keys, _ in sections}
    for path, keys, groups in sections:
        options: Any = entry
        for step in path:
            options = options.get(step) if isinstance(options, dict) else None
        options = options if isinstance(options, dict) else {}
        yield from (((*path, name), message) for name, message in _said_twice(options, keys))
        for name, value in options.items():
            if (key := own.get(path[0], instead).get(name) or instead.get(name)) is not None:
                yield (*path, name), f"is set by the key {key!r}; remove it here"
            elif (message := _wrong(name, value, keys, groups, places)) is not None:
                yield (*path, name), message


def _said_twice(options: Mapping[str, object], keys: tuple[ConfigKey[Any], ...]) -> Iterator[tuple[str, str]]:
    """Options that are set under two of their names."""
    if len(options) < 2:  # almost all sections of a registry
        return
    for key in keys:
        first, *others = [name for name in key.names if name in options] or [key.name]
        yield from ((name, f"is another name of {first!r}: keep one of them") for name in others)


def _names(replaced: Mapping[ConfigKey[Any], str]) -> dict[str, str]:
    """All names of these options, and the keys of the registry that stand for them."""
    return {name: where for key, where in replaced.items() for name in key.names}


def shown_options(options: Mapping[str, str], secrets: Iterable[ConfigKey[Any]]) -> Iterator[tuple[str, str]]:
    """Options in order, as people may see them: without `secrets`, also without passwords within a JDBC URL."""
    hidden = {name for key in secrets for name in key.names}
    for name, value in sorted(options.items()):
        if name not in hidden:
            yield name, _PASSWORD_IN_ADDRESS.sub(r"\1…", value)


def _wrong(
    name: str,
    value: object,
    keys: tuple[ConfigKey[Any], ...],
    groups: tuple[OptionGroup, ...],
    places: Mapping[str, tuple[ConfigKey[Any], ...]],
) -> str | None:
    """`places` are the sections of a table's entry and the options that each takes."""
    try:
        key = declared(name)
        if key is None:
            check_option(name, value, *groups)
        elif key in keys:
            resolve({name: value}, keys)
        else:
            where = [f"{place!r}" for place, place_keys in places.items() if key in place_keys]
            if where:
                return f"Option {name!r} has no effect here: move it to the table's {' or '.join(where)}"
            others = [group.name for group in GROUPS if key in group.keys]
            return f"Option {name!r} is not known here: it is one of {', '.join(others)}"
    except ConfigError as error:
        return str(error)
    return None
