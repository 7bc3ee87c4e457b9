"""Facts by which objectives are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from typing import Any

_POINTS = 100  # points of a growth, at most


@dataclass(frozen=True)
class Growth:
    """The growth of an amount: at each of these times, the oldest first, it had grown to this much. Only what is still
    there counts, so that the last is the amount of now."""

    points: Sequence[tuple[datetime, float]] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[datetime, float]]) -> Growth:
        """The growth from when each part came, and how much it is; thinned to a hundred points."""
        ordered = sorted(parts)
        points = list(zip((at for at, _ in ordered), accumulate(amount for _, amount in ordered), strict=True))
        step = -(-len(points) // _POINTS) or 1
        return cls(tuple(reversed(points[::-1][::step])))

    @property
    def amount(self) -> float:
        return self.points[-1][1] if self.points else 0.0

    def passed(self, limit: float) -> datetime | None:
        """Since when it is more than that; None when it is not."""
        return next((at for at, amount in self.points if amount > limit), None)

    def as_json(self) -> list[tuple[str, float]]:
        """Times as ISO."""
        return [(at.isoformat(), amount) for at, amount in self.points]

    @classmethod
    def of_json(cls, values: Iterable[Sequence[Any]]) -> Growth:
        return cls(tuple((datetime.fromisoformat(at), amount) for at, amount in values))


@dataclass(frozen=True)
class Facts:
    """Facts of a table at a moment, all times in UTC. `last_data` is when the last commit with data was completed;
    None: there is none.

    `logs` in bytes, `small` in base files that are small and have another small one in their partition, `instants` of
    the active timeline; None where they were not looked at. `waits` is the completion of the oldest commit since the
    last clean, None also where a clean would remove nothing.
    """

    now: datetime
    last_data: datetime | None = None
    base_files: int = 0
    base_bytes: int = 0
    logs: Growth | None = None
    small: Growth | None = None
    instants: Growth = field(default_factory=Growth)
    waits: datetime | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON, for `of`."""
        return {
            "now": self.now.isoformat(),
            "last_data": self.last_data and self.last_data.isoformat(),
            "base_files": self.base_files,
            "base_bytes": self.base_bytes,
            "logs": self.logs.as_json() if self.logs is not None else None,
            "small": self.small.as_json() if self.small is not None else None,
            "instants": self.instants.as_json(),
            "waits": self.waits and self.waits.isoformat(),
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Facts:
        """Raises KeyError, TypeError or ValueError for what `as_dict` did not make."""
        last, waits = values["last_data"], values["waits"]
        return cls(
            datetime.fromisoformat(values["now"]),
            datetime.fromisoformat(last) if last is not None else None,
            int(values["base_files"]),
            int(values["base_bytes"]),
            Growth.of_json(values["logs"]) if values["logs"] is not None else None,
            Growth.of_json(values["small"]) if values["small"] is not None else None,
            Growth.of_json(values["instants"]),
            datetime.fromisoformat(waits) if waits is not None else None,
        )
