"""A mistake in the registry file, and the error that shows all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import RegistryError


@dataclass(frozen=True)
class Mistake:
    """A mistake: the file, its line (from 1), the key in words, and what to do.

    `table` is the name of the table that cannot be used because of it; None when it concerns the whole file.
    """

    file: str
    line: int
    key: str
    message: str
    table: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.message}"


@dataclass(frozen=True)
class LeftOut:
    """A table `name` that is left out since its entry has mistakes, and the source that the entry names.

    `table` is empty where the entry does not say which table of the `server` it is about.
    """

    name: str
    base_path: str
    server: str
    table: str


def left_out(entries: Iterable[object]) -> Iterator[LeftOut]:
    """Yield the tables of a server among entries with mistakes, as far as their names can be read."""
    for entry in entries:
        source = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(source, dict) and "topic" not in source:
            texts = (entry.get("name"), entry.get("base_path"), source.get("server"), source.get("table"))
            name, base_path, server, table = (text if isinstance(text, str) else "" for text in texts)
            if server:
                yield LeftOut(name, base_path, server, table)


def as_error(file: str, mistakes: Iterable[Mistake]) -> RegistryError:
    """All mistakes in one error, a line each."""
    lines = [str(mistake) for mistake in mistakes]
    return RegistryError(f"{counted(len(lines), 'mistake')} in the registry {file}", found="\n  " + "\n  ".join(lines))
