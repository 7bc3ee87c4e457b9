"""Small files at a path or URL, by which processes report their progress and their end to each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.storage import Storage


def put(path: str, content: bytes) -> None:
    """Write a file in place of an earlier one, whole or not at all. Raises OSError."""
    storage, name = place_of(path)
    storage.delete(name)
    with storage.open_output(name) as sink:
        sink.write(content)


def drop(path: str) -> None:
    """Delete a file, if there is one. Raises OSError."""
    storage, name = place_of(path)
    storage.delete(name)


def place_of(path: str) -> tuple[Storage, str]:
    """The folder of a path or URL, and the name in it."""
    from hoodie.storage import open_storage

    local = "://" not in path and not path.startswith("file:")
    folder, _, name = (str(Path(path).absolute()) if local else path).rpartition("/")
    return open_storage(folder or "/"), name
