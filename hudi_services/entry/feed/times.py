"""Times written in another way than ISO's, and numbers that are times: from columns of texts and numbers to timestamps.

Listing the formats is cheap: the registry does so each time that it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.cache import cached_property

ISO = "iso"
EPOCHS = {"epoch_s": 1_000_000, "epoch_ms": 1_000, "epoch_us": 1}
"""Numbers since 1970 in UTC, and how many microseconds one is."""

_DATES = (("%Y", "%y"), ("%m", "%b", "%B"), ("%d",))
_KNOWN = frozenset(
    ["%Y", "%y", "%m", "%b", "%B", "%d", "%a", "%A", "%H", "%I", "%p", "%M", "%S", "%f", "%z", "%%"],
)


@dataclass(frozen=True)
class Times:
    """The form of a column's times: formats that are tried in order, and the zone of times without one.

    With a zone, or if the values have one themselves, they become moments in UTC. Otherwise they stay local times.
    """

    formats: tuple[str, ...]
    zone: str | None = None

    @property
    def are_moments(self) -> bool:
        return self.zone is not None or any(map(has_zone, self.formats))

    @property
    def are_numbers(self) -> bool:
        """True if all formats count since 1970."""
        return all(text in EPOCHS for text in self.formats)

    def __str__(self) -> str:
        return " or ".join(self.formats) + (f" in {self.zone}" if self.zone else "")

    @cached_property
    def problem(self) -> str | None:
        """The mistake in the formats, in words for people; None if there is none."""
        if not self.formats:
            return "names no format"
        for text in self.formats:
            if (wrong := _format_problem(text)) is not None:
                return wrong
        zoned = list(map(has_zone, self.formats))
        if self.zone is None and any(zoned) and not all(zoned):
            without = self.formats[zoned.index(False)]
            return f"times in the format {without} have no zone, the others do; say which with `zone`"
        return None


def has_zone(text: str) -> bool:
    """True if the values of a format have a zone. Values in ISO 8601 may have one: they need `zone` for those that do not."""
    return text in EPOCHS or "%z" in _directives(text)


def _directives(text: str) -> Sequence[str]:
    return re.findall(r"%.?", text, re.DOTALL)


def _format_problem(text: str) -> str | None:
    if text == ISO or text in EPOCHS:
        return None
    used = _directives(text)
    if not used:
        return f"{text!r} is no format; say {ISO}, {', '.join(EPOCHS)}, or one such as %d.%m.%Y %H:%M"
    if unknown := [letter for letter in used if letter not in _KNOWN]:
        return f"{text!r} uses {unknown[0]}; known are {', '.join(sorted(_KNOWN))}"
    if any(not set(any_of) & set(used) for any_of in _DATES):
        return f"{text!r} gives no day: it needs %Y, %m and %d, or others for these"
    if ("%I" in used) != ("%p" in used):
        return f"{text!r} has %I without %p, or %p without %I: 3 o'clock is one of two"
    return None
