"""References to a table from outside of its folder: entries of the registry, and catalogs that these sync."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from hoodie.config.keys.sync import ENABLE, METASTORE_URIS
from hoodie.errors import ConfigError, RegistryError
from hoodie.model.place import identity
from hoodie.services.obstacle import Obstacle
from hudi_services.registry.lookup import registry_file
from hudi_services.registry.variables import expand

REGISTRY, CATALOGS = "registry", "catalogs"
"""Kinds of obstacles that a user may pass over."""
_SYNC_KEYS = frozenset(("sync", *METASTORE_URIS.names, *ENABLE.names))
_FIELD = re.compile(r"\\\{\w+\\\}")


def references(base_path: str, registry: str | None) -> Iterator[Obstacle]:
    """Yield what names the table in the registry that commands find, also in entries with mistakes; nothing without a registry.

    Raises ConfigError for a registry that was named and is not there, RegistryError for one that is no YAML.
    """
    try:
        file = registry_file(registry)
    except ConfigError:
        if registry is not None:
            raise
        return
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RegistryError(
            f"The registry {file} may name the table, and is not YAML", found=str(error), fix="correct it"
        ) from error
    place = identity(base_path)
    for name, values in _parts(document if isinstance(document, dict) else {}):
        if _names(values, place):
            yield Obstacle(
                REGISTRY, f"{name} of {file} names it", f"change {name} of {file}, or add --despite registry"
            )
            if isinstance(values, dict) and _is(values.get("base_path"), place) and _syncs(values):
                yield Obstacle(
                    CATALOGS,
                    f"{name} is synced with a Hive metastore",
                    "drop the table there with the engine that you use, or add --despite catalogs",
                )


def _parts(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each entry of a table, and each other section, with what people call it."""
    for section, values in document.items():
        if section == "tables" and isinstance(values, list):
            for number, entry in enumerate(values):
                name = entry.get("name", number) if isinstance(entry, dict) else number
                yield f"table {name}", entry
        else:
            yield f"section {section}", values


def _names(value: Any, place: str) -> bool:
    """Return whether a text inside of the values is the path of the table."""
    if isinstance(value, Mapping):
        return any(_names(item, place) for item in value.values())
    return any(_names(item, place) for item in value) if isinstance(value, list) else _is(value, place)


def _is(text: Any, place: str) -> bool:
    """Return whether the text is this path. Fields such as `{table}` stand for any name."""
    if not isinstance(text, str) or not ("/" in text or Path(text).exists()):
        return False
    with suppress(ValueError):
        text = expand(text, os.environ)
    return re.fullmatch(_FIELD.sub("[^/]+", re.escape(identity(text))), place) is not None


def _syncs(entry: Mapping[str, Any]) -> bool:
    inner = (value for value in entry.values() if isinstance(value, Mapping))
    return not _SYNC_KEYS.isdisjoint(entry) or any(map(_syncs, inner))
