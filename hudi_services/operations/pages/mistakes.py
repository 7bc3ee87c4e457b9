"""Mistakes and warnings of a registry for the page of all tables: each once, with the tables that it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_services.entry.table import Table
from hudi_services.registry.mistakes import Mistake, merged
from hudi_services.services.entries import ENTRIES, Entries


@dataclass(frozen=True)
class Wrong:
    """A mistake in the registry: file and line, what is wrong, and the tables that it keeps out (none: the whole file)."""

    where: str
    message: str
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Doubt:
    """A warning: settings that are probably not meant, and the tables that have them."""

    message: str
    tables: tuple[str, ...]


def wrong(mistakes: Iterable[Mistake]) -> tuple[Wrong, ...]:
    """The mistakes, those of the whole file and of most tables first."""
    result = [
        Wrong(f"{mistake.file}:{mistake.line}", f"{mistake.key}: {mistake.message}", tables)
        for mistake, tables in merged(mistakes)
    ]
    return tuple(sorted(result, key=lambda mistake: (bool(mistake.tables), -len(mistake.tables))))


def doubts(tables: Iterable[Table], entries: Entries = ENTRIES) -> tuple[Doubt, ...]:
    """The warnings about the entries of these tables, those of most tables first."""
    groups: dict[str, list[str]] = {}
    for table in tables:
        for message in dict.fromkeys(text for entry in entries for text in entry.section.warnings(table)):
            groups.setdefault(message, []).append(table.name)
    return tuple(
        Doubt(message, tuple(names)) for message, names in sorted(groups.items(), key=lambda item: -len(item[1]))
    )
