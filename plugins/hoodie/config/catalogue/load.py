"""Reading the catalogue: `options.tsv` has a line for each option of Hudi's, `kinds.tsv` why some are not honoured.

The files are read when an option is looked up that this library does not declare itself, once in a process; they lie beside
this module, also within a zip that Spark ships to its workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_ANY = "*"  # at the end of a key: any text; as the services of a kind: all


class Verdict(StrEnum):
    """Effect of an option of Hudi's in this library."""

    HONOURED = "honoured"
    NO_EFFECT = "without effect"
    REFUSED = "refused"


@dataclass(frozen=True)
class Kind:
    """Why options are not honoured, and the services that they would matter to: all of them when `services` is empty."""

    verdict: Verdict
    services: frozenset[str]
    reason: str

    def concerns(self, services: frozenset[str]) -> bool:
        """Return whether the option matters to one of these services."""
        return not self.services or bool(self.services & services)


@dataclass(frozen=True)
class Entry:
    """One option of Hudi's. `kind` is None for one that is honoured; `as_here` are the values, in lower case, that ask for what
    is done here anyway."""

    key: str
    aliases: tuple[str, ...]
    default: str
    kind: Kind | None
    as_here: frozenset[str]
    meaning: str

    @property
    def verdict(self) -> Verdict:
        """The effect of a value that asks for something else than the behaviour here."""
        return Verdict.HONOURED if self.kind is None else self.kind.verdict

    def asks_for_more(self, value: str) -> bool:
        """Return whether `value` asks for something else than the behaviour here; an empty one asks for nothing."""
        requested = value.strip().lower()
        return bool(requested) and requested not in self.as_here


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every name of every option, older names included -> the option."""
    kinds = {name: _kind(*columns) for name, *columns in _rows("kinds.tsv")}
    names: dict[str, Entry] = {}
    for key, aliases, default, kind, as_here, meaning in _rows("options.tsv"):
        entry = Entry(
            key,
            tuple(filter(None, aliases.split(","))),
            default,
            kinds[kind] if kind else None,
            frozenset(value.lower() for value in as_here.split(",") if value),
            meaning,
        )
        names[key] = entry
        for alias in entry.aliases:
            names.setdefault(alias, entry)
    return MappingProxyType(names)


def find(name: str) -> Entry | None:
    """The option called `name`, or the family of options that it belongs to (`sasl.*`); None for an unknown name."""
    names = catalogue()
    if name in names:
        return names[name]
    parts = name.split(".")
    families = (".".join([*parts[:length], _ANY]) for length in range(len(parts) - 1, 0, -1))
    return next((names[family] for family in families if family in names), None)


def _kind(verdict: str, services: str, reason: str) -> Kind:
    concerned = frozenset() if services == _ANY else frozenset(services.split(","))
    return Kind(Verdict.REFUSED if verdict == "refused" else Verdict.NO_EFFECT, concerned, reason)


def _rows(file: str) -> list[list[str]]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
