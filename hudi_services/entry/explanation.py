"""What a service would do, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 200  # lines of items: a plan of millions must not flood a terminal; JSON has all


@dataclass(frozen=True)
class Item:
    """A file or file group of a plan: where, size in bytes, why; `facts` are more of it, for programs."""

    path: str
    bytes: int
    reason: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Items:
    """What a plan names, in order. `verb` says what would be done with them, `noun` what they are; `bytes` is their sum."""

    verb: str
    listed: tuple[Item, ...]
    bytes: int
    noun: str = "files"


@dataclass(frozen=True)
class Explanation:
    """Why a service would do what.

    `facts` are fields for programs, `before` and `after` lines for people, around those of the items. A service whose plan names
    no files says in `sum` what it would do.
    """

    service: str
    reason: str
    items: Items | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    sum: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        found = {"service": self.service, "reason": self.reason, **self.facts}
        if self.items is not None:
            found |= {"bytes": self.items.bytes, "files": [_as_dict(item) for item in self.items.listed]}
        return found

    def as_text(self) -> str:
        """For a person: the reason first, then a line an item, then the sum."""
        items = self.items.listed if self.items is not None else ()
        lines = [f"{self.service}: {self.reason}", *self.before]
        lines += [
            f"  {item.bytes:>14,} bytes  {item.path}{f'  {item.reason}' if item.reason is not None else ''}"
            for item in items[:_SHOWN]
        ]
        if len(items) > _SHOWN:
            lines.append(f"  … and {len(items) - _SHOWN} more (--json shows all)")
        would = self.sum
        if self.items is not None:
            would = f"would {self.items.verb} {len(items)} {self.items.noun}, {self.items.bytes:,} bytes"
        return "\n".join([*lines, *self.after, f"{would}; nothing was changed"])


def _as_dict(item: Item) -> dict[str, Any]:
    reason = {"reason": item.reason} if item.reason is not None else {}
    return {"path": item.path, "bytes": item.bytes, **item.facts, **reason}
