"""Options of a pipeline, section by section, and what is refused of them. Messages show no value that may be a secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]


@dataclass
class Findings:
    """Refused options by their places in the YAML, and options that have no effect here, with the reasons."""

    refusals: list[tuple[Path, str]] = field(default_factory=list)
    notes: list[tuple[Path, str]] = field(default_factory=list)


@dataclass
class Section:
    """The options of one mapping of the YAML at `path`. Each option that is read counts as known."""

    path: Path
    values: Mapping[str, Any]
    findings: Findings
    _known: set[str] = field(default_factory=set)

    def text(self, key: str) -> str | None:
        """Return an option as text, None where it is not there. One that is no plain value is refused."""
        self._known.add(key)
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, dict | list):
            self.refuse(key, "must be one value")
            return None
        return str(value).lower() if isinstance(value, bool) else str(value)

    def required(self, key: str) -> str:
        """Return an option as text, an empty one where it is refused because it is not there."""
        value = self.text(key)
        if not value and not any(path == (*self.path, key) for path, _ in self.findings.refusals):
            self.refuse(key, "is missing")
        return value or ""

    def ignore(self, *keys: str) -> None:
        """Take options that are labels."""
        self._known.update(keys)

    def note(self, key: str, message: str) -> None:
        """Say that an option has no effect, where it is there."""
        self._known.add(key)
        if key in self.values:
            self.findings.notes.append(((*self.path, key), message))

    def only(self, key: str, value: str, otherwise: str) -> None:
        """Refuse an option with another value than the one that is true here."""
        text = self.text(key)
        if text is not None and text.lower() != value:
            self.refuse(key, otherwise)

    def refuse(self, key: str, message: str) -> None:
        """Refuse an option that is there, or should be."""
        self._known.add(key)
        self.findings.refusals.append(((*self.path, key), message))

    def rest(self) -> Iterator[str]:
        """The options that nothing has read yet."""
        return (str(key) for key in self.values if key not in self._known)
