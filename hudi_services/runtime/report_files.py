"""Small files at a path or URL, by which processes report their progress and their end to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hoodie.model.place import absolute

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

    folder, _, name = absolute(path).rpartition("/")
    return open_storage(folder or "/"), name
