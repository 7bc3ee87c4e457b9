"""Definitions of indexes, each of which has a version from table version 9 on (format notes, section 4.4)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hoodie.errors import CorruptTableError, LockLostError, UnsupportedTableError
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.storage.idempotent import replace_own

INDEX_DEFINITIONS = ".hoodie/.index_defs/index.json"
_FIRST = "V1"


def definitions_without_version(storage: Storage) -> bool:
    """Return whether an index of the table has no version. Raises CorruptTableError for definitions that cannot be read."""
    return any(definition.get("version") is None for definition in _definitions(_document(storage)).values())


def add_versions(storage: Storage) -> None:
    """Give each index without a version the first one, as Hudi does. Call it under the table's lock. Can be repeated.

    Until then and afterwards every release reads the file: older ones pass over the version. Raises LockLostError when another
    process changes it, and UnsupportedTableError for a storage that replaces no file in one step.
    """
    if not isinstance(storage, ReplacingStorage):
        raise UnsupportedTableError(
            f"The index definitions of table {storage.base_path} cannot be replaced in one step on this storage",
            found=INDEX_DEFINITIONS,
            fix="upgrade the table with Hudi; nothing of its rows was changed",
        )
    old = storage.read(INDEX_DEFINITIONS)
    document = _document(storage)
    for definition in _definitions(document).values():
        if definition.get("version") is None:
            definition["version"] = _FIRST
    new = json.dumps(document, indent=2).encode()
    folder, _, name = INDEX_DEFINITIONS.rpartition("/")
    storage.delete(f"{folder}/.{name}.crc")  # Hadoop's local file system compares it with the content
    if not replace_own(storage, INDEX_DEFINITIONS, old, new):
        raise LockLostError(
            f"{INDEX_DEFINITIONS} of table {storage.base_path} was changed by another process",
            fix="run the upgrade again when no writer of Hudi's is at work",
        )


def _document(storage: Storage) -> dict[str, Any]:
    """The file as it is; empty where there is none."""
    data = b"{}"
    with suppress(FileNotFoundError):
        data = storage.read(INDEX_DEFINITIONS)
    try:
        document = json.loads(data)
        _definitions(document)
    except (ValueError, TypeError, AttributeError) as error:
        raise CorruptTableError(
            f"{INDEX_DEFINITIONS} of {storage.base_path} cannot be read",
            found=f"{len(data)} bytes ({error!r})",
            fix="restore it from a copy; the table was not upgraded",
        ) from error
    result: dict[str, Any] = document
    return result


def _definitions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    definitions: dict[str, dict[str, Any]] = document.get("indexDefinitions") or {}
    for definition in definitions.values():
        definition.get("version")
    return definitions
