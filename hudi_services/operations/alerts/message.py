"""The message that is sent: an object of JSON. Names of tables may have anything in them, so only what people read is
text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hudi_services.entry.alerts import Hook
from hudi_services.operations.alerts.ledger import Message

_LINES = 30  # lines of a text
_CHARACTERS = 300  # characters of a line
_ORDER = ("began", "over", "stands", "ended")
_WORDS = {"began": "began", "over": "began and ended", "stands": "still", "ended": "ended"}


def body_of(hook: Hook, values: Mapping[str, Any]) -> bytes:
    """`values` in the hook's form; they have a `text`. Slack takes `&`, `<` and `>` for markup, so they are escaped for it."""
    if hook.form == "text":
        escaped = str(values["text"]).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return json.dumps({"text": escaped}).encode()
    return json.dumps(values).encode()


def values_of(messages: Sequence[Message], now: datetime) -> dict[str, Any]:
    """All messages of a round for a hook: `id` is the same when the same is sent again."""
    ordered = sorted(messages, key=lambda message: (_ORDER.index(message.happening), message.delivery.trouble.table))
    parts = [
        f"{notice.delivery.trouble.key} {notice.happening} {notice.delivery.seen_at} {notice.delivery.told_at}"
        for notice in ordered
    ]
    lines = [_line(notice) for notice in ordered[:_LINES]]
    if more := len(ordered) - len(lines):
        lines.append(f"and {more} more: hudi-services alerts")
    return {
        "id": hashlib.sha256("\n".join(parts).encode()).hexdigest(),
        "kind": "alerts",
        "at": now.isoformat(),
        "messages": [_row(notice) for notice in ordered],
        "text": "\n".join(lines),
    }


def trial_values(now: datetime) -> dict[str, Any]:
    """The values of a message that only shows that messages arrive."""
    return {"kind": "test", "at": now.isoformat(), "text": "hudi-services: a test, nothing is wrong"}


def one_line(text: str) -> str:
    """The text without line breaks, and not too long."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_CHARACTERS]


def _line(message: Message) -> str:
    trouble = message.delivery.trouble
    since = f" (since {trouble.since:%Y-%m-%d %H:%M} UTC)" if trouble.since is not None else ""
    return f"{_WORDS[message.happening]}: {one_line(f'{trouble.table}: {trouble.text}')}{since}"


def _row(message: Message) -> dict[str, Any]:
    delivery, trouble = message.delivery, message.delivery.trouble
    return {
        "happening": message.happening,
        "table": trouble.table,
        "kind": trouble.kind,
        "what": trouble.what,
        "text": trouble.text,
        "since": _iso(trouble.since),
        "seen_at": _iso(delivery.seen_at),
        "ended_at": _iso(delivery.ended_at),
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
