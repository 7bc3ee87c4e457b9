"""The ledger of alerts: which hook has which report, and what is due: pure.

A trouble is a row for each hook from when it is first seen until its end was reported. The row is kept before anything
is sent, so that a trouble that begins and ends while a hook is away is reported, too; it changes after the hook has
taken the message, so that a process that is killed in between reports once more, and never once less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from hudi_services.operations.alerts.conditions import Observation, Trouble

_SKEW = timedelta(minutes=1)  # between clocks of watchers

Happening = Literal["began", "stands", "ended", "over"]
"""`stands` repeats a report; `over` is for what began and ended without a report."""


@dataclass(frozen=True)
class Delivery:
    """A trouble and a hook: when it was first seen, when the hook last had a report of it, and when it was seen to have
    ended."""

    hook: str
    trouble: Trouble
    seen_at: datetime
    told_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True)
class Message:
    """A due report of a row."""

    happening: Happening
    delivery: Delivery


def noticed(
    before: Iterable[Delivery], observation: Observation, hooks: Sequence[str], now: datetime
) -> list[Delivery]:
    """The rows with what is seen now: new troubles, others that ended. A row that was not looked for stays as it was;
    rows of hooks that the registry has no more go.

    A trouble that comes back begins again, even if its end seems unreported: a process that was killed may have
    reported it.
    """
    troubles = {trouble.key: trouble for trouble in observation.troubles}
    rows = {(notice.hook, notice.trouble.key): notice for notice in before if notice.hook in hooks}
    for place, row in rows.items():
        trouble = troubles.get(row.trouble.key)
        if trouble is not None:
            rows[place] = _renewed(row, trouble, now)
        elif row.ended_at is None and observation.knows(row.trouble):
            rows[place] = replace(row, ended_at=now)
    for hook in hooks:
        for key, trouble in troubles.items():
            rows.setdefault((hook, key), Delivery(hook, trouble, now))
    return list(rows.values())


def _renewed(row: Delivery, trouble: Trouble, now: datetime) -> Delivery:
    if row.ended_at is None or row.told_at is None:
        return replace(row, trouble=trouble, ended_at=None)
    return Delivery(row.hook, trouble, now)


def due(rows: Iterable[Delivery], hook: str, repeat: timedelta, now: datetime) -> list[Message]:
    """The messages that are due to the hook now."""
    return [Message(happening, row) for row in rows if row.hook == hook and (happening := _happening(row, repeat, now))]


def _happening(row: Delivery, repeat: timedelta, now: datetime) -> Happening | None:
    if row.ended_at is not None:
        return "over" if row.told_at is None else "ended"
    if row.told_at is None:
        return "began"
    ahead = row.told_at - now > _SKEW  # by a clock that was
    return "stands" if ahead or now - row.told_at >= repeat else None


def delivered(
    messages: Iterable[Message], rows: Iterable[Delivery], now: datetime
) -> tuple[list[Delivery], list[Delivery]]:
    """Return the rows that change once the hook has taken the messages, as they are then, and the rows that are done
    with.

    `rows` are as they are now. A trouble that began again or ended while the message was on its way is reported later,
    too.
    """
    current = {(row.hook, row.trouble.key): row for row in rows}
    updated, ended = list[Delivery](), list[Delivery]()
    for message in messages:
        delivery = message.delivery
        row = current.get((delivery.hook, delivery.trouble.key))
        if row is None or row.seen_at != delivery.seen_at:
            continue
        if message.happening in ("began", "stands"):
            updated.append(replace(row, told_at=now))
        elif row == delivery:
            ended.append(row)
    return updated, ended
