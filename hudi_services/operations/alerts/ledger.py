"""Who was told what, and what is to be told: pure.

A trouble is a row for each hook from when it is first seen until its end was told. The row is kept before anything is sent, so
that what begins and ends while a hook is away is told, too; it changes after the hook has taken the message, so that a process
that is killed in between tells once more, and never once less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from hudi_services.operations.alerts.conditions import Seen, Trouble

_SKEW = timedelta(minutes=1)  # between clocks of watchers

Happening = Literal["began", "stands", "ended", "over"]
"""`stands` after it was told before; `over` for what began and ended untold."""


@dataclass(frozen=True)
class Told:
    """A trouble and a hook: when it was first seen, when the hook was last told that it stands, and when it was seen to have
    ended."""

    hook: str
    trouble: Trouble
    seen_at: datetime
    told_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True)
class Message:
    """What is to be told of a row."""

    happening: Happening
    told: Told


def noticed(before: Iterable[Told], seen: Seen, hooks: Sequence[str], now: datetime) -> list[Told]:
    """The rows with what is seen now: new troubles, others that ended. What was not looked for stays as it was; rows of hooks
    that the registry has no more go.

    A trouble that comes back begins anew, also where its end seems untold: who was killed may have told it.
    """
    standing = {trouble.key: trouble for trouble in seen.troubles}
    rows = {(each.hook, each.trouble.key): each for each in before if each.hook in hooks}
    for place, row in rows.items():
        trouble = standing.get(row.trouble.key)
        if trouble is not None:
            rows[place] = _again(row, trouble, now)
        elif row.ended_at is None and seen.knows(row.trouble):
            rows[place] = replace(row, ended_at=now)
    for hook in hooks:
        for key, trouble in standing.items():
            rows.setdefault((hook, key), Told(hook, trouble, now))
    return list(rows.values())


def _again(row: Told, trouble: Trouble, now: datetime) -> Told:
    if row.ended_at is None or row.told_at is None:
        return replace(row, trouble=trouble, ended_at=None)
    return Told(row.hook, trouble, now)


def due(rows: Iterable[Told], hook: str, repeat: timedelta, now: datetime) -> list[Message]:
    """What the hook is to be told now."""
    return [Message(what, row) for row in rows if row.hook == hook and (what := _happening(row, repeat, now))]


def _happening(row: Told, repeat: timedelta, now: datetime) -> Happening | None:
    if row.ended_at is not None:
        return "over" if row.told_at is None else "ended"
    if row.told_at is None:
        return "began"
    ahead = row.told_at - now > _SKEW  # by a clock that was
    return "stands" if ahead or now - row.told_at >= repeat else None


def delivered(messages: Iterable[Message], rows: Iterable[Told], now: datetime) -> tuple[list[Told], list[Told]]:
    """The hook has taken them. Returns of the `rows`, as they are by now, those that change, as they are then, and those that are
    done with. A trouble that began anew or ended while the message was on its way is told of that, too."""
    current = {(row.hook, row.trouble.key): row for row in rows}
    kept, done = list[Told](), list[Told]()
    for message in messages:
        told = message.told
        row = current.get((told.hook, told.trouble.key))
        if row is None or row.seen_at != told.seen_at:
            continue
        if message.happening in ("began", "stands"):
            kept.append(replace(row, told_at=now))
        elif row == told:
            done.append(row)
    return kept, done
