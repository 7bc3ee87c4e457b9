"""One piece of advice on a table, as programs and people read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from hoodie.display import counted
from hoodie.times import span
from hudi_services.operations.inspect.text import size


class Severity(StrEnum):
    """The severities, the gravest first."""

    DAMAGE = "damage"
    """Rows are lost or wrong, or the table cannot be read."""
    LOSS = "loss"
    """Rows or changes are not in the table, or will be lost for a reader."""
    FAILED = "failed"
    """A service does not run: its last run failed, or a mistake keeps it out."""
    MISSED = "missed"
    """The table misses an objective."""
    WAITING = "waiting"
    """Something waits for a user, or holds a service back."""
    DUE = "due"
    """A service has work."""


_ORDER = tuple(Severity)
EXIT_CODES = {Severity.DAMAGE: 2, Severity.LOSS: 2}
"""Exit codes of the gravest advice. Any other advice is 1, and none is 0."""


@dataclass(frozen=True)
class Effect:
    """The cost and the gain of a service: `items` (each a `noun`) of `bytes`. A service that `frees` them removes them.

    `seconds` is the median of comparable runs; None where there are too few of them.
    """

    doing: str
    items: int
    noun: str
    bytes: int = 0
    seconds: float | None = None
    frees: bool = False

    def __str__(self) -> str:
        amount = [size(self.bytes)] if self.bytes and not self.frees else []
        ends = [f"frees {size(self.bytes)}"] if self.bytes and self.frees else []
        ends += [f"takes about {length(self.seconds)}"] if self.seconds is not None else []
        action_text = ", ".join([f"{self.doing} {counted(self.items, self.noun)}", *amount])
        return f"{action_text}{',' if amount and ends else ''} {' and '.join(ends)}".rstrip() + "."


@dataclass(frozen=True)
class Advice:
    """One thing that is wrong with `table` or waits there. `kind` and `subject` stay the same as long as it does.

    `text` is a sentence without its end, `detail` are sentences after it. `fix` is a command that can be pasted, `remedy` says
    what no command does, or which of the `commands` is for which case. `waits` is a sentence that says why nothing starts the
    fix. `service` and `parameters` are a DAG's service and the values of its form.
    `urgency` orders advice of one severity: the greatest first.
    """

    table: str
    severity: Severity
    kind: str
    subject: str
    text: str
    since: datetime | None = None
    _: KW_ONLY
    detail: str = ""
    fix: str = ""
    remedy: str = ""
    commands: tuple[str, ...] = ()
    effect: Effect | None = None
    waits: str = ""
    service: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    urgency: float = 0.0

    def sentence(self, now: datetime) -> str:
        """The text with the time since when it is so, in UTC, and the detail."""
        since = f", since {clock(self.since, now)}" if self.since is not None else ""
        return f"{self.text}{since}.{f' {self.detail}' if self.detail else ''}"

    @property
    def ways(self) -> str:
        """The remedy if it names the `fix`: what leads to it, such as to restore a file first, and what it costs, such as rows. A
        reader takes a command without them for the only way, and for a harmless one. No full stop follows the command."""
        if not self.fix or self.fix not in self.remedy:
            return ""
        return self.remedy.removesuffix(".") if self.remedy.endswith(f"{self.fix}.") else self.remedy

    def summary(self, now: datetime) -> str:
        """The sentence for a place that shows nothing else but the `fix`, with what is to know of it."""
        return " ".join(filter(None, (self.sentence(now), self.ways)))

    def as_dict(self, now: datetime) -> dict[str, Any]:
        """The advice for programs, with times in ISO 8601 and sizes in bytes."""
        effect = self.effect
        return {
            "table": self.table,
            "severity": str(self.severity),
            "kind": self.kind,
            "what": self.subject,
            "text": self.sentence(now),
            "since": self.since.isoformat() if self.since is not None else None,
            "fix": self.fix or None,
            "remedy": self.remedy or None,
            "commands": list(self.commands),
            "effect": str(effect) if effect is not None else None,
            "items": effect.items if effect is not None else None,
            "bytes": effect.bytes if effect is not None else None,
            "seconds": effect.seconds if effect is not None else None,
            "waits": self.waits or None,
            "service": self.service,
            "parameters": dict(self.parameters),
        }


def ended(text: str) -> str:
    """The text as a sentence: with a capital letter, unless it begins with a name or a path, and with one full stop. Its commands
    go without backticks."""
    first = text.split(" ", 1)[0]
    capitalised = text[:1].upper() + text[1:] if first.isalpha() else text
    return f"{capitalised.rstrip('.')}.".replace("`", "") if text else ""


def by_severity(advice: Iterable[Advice]) -> tuple[Advice, ...]:
    """The gravest first, then the most urgent, then the oldest."""
    oldest = datetime.max.replace(tzinfo=UTC)
    return tuple(
        sorted(
            advice,
            key=lambda item: (
                _ORDER.index(item.severity),
                -item.urgency,
                item.since or oldest,
                item.table,
                item.subject,
            ),
        )
    )


def exit_code(advice: Iterable[Advice]) -> int:
    """0 without advice, 2 for damage and loss, 1 for any other."""
    return max((EXIT_CODES.get(item.severity, 1) for item in advice), default=0)


def clock(moment: datetime, now: datetime) -> str:
    """The time of a day in UTC, with the date if that is not today's."""
    utc_moment = moment.astimezone(UTC)
    return (
        f"{utc_moment:%H:%M} UTC"
        if utc_moment.date() == now.astimezone(UTC).date()
        else f"{utc_moment:%Y-%m-%d %H:%M} UTC"
    )


def length(seconds: float | None) -> str:
    """A duration in whole seconds, or in its two greatest units; nothing for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    first, _, rest = span(seconds).partition(" ")
    unit, _, second = rest.partition(" ")
    return f"{first} {unit}" if second.startswith("0 ") else f"{first} {unit} {second}".rstrip()
