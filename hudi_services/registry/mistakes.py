"""A mistake in the registry file, and the error that shows all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import RegistryError


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong: the file, its line (from 1), the key in words, and what to do.

    `table` is the name of the table that cannot be used because of it; None when it concerns the whole file.
    """

    file: str
    line: int
    key: str
    message: str
    table: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.message}"


def as_error(file: str, mistakes: Iterable[Mistake]) -> RegistryError:
    """All mistakes in one error, a line each."""
    lines = [str(mistake) for mistake in mistakes]
    return RegistryError(f"{counted(len(lines), 'mistake')} in the registry {file}", found="\n  " + "\n  ".join(lines))
