"""The pause of a table: a file below `.hoodie/.paused`, which no reader of Hudi's looks at, so all who share the table see it.

It holds back services, not writers: writes through the library or through Hudi go on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from hoodie.clock import Clock
from hoodie.errors import ConfigError, TablePausedError
from hoodie.storage import Storage
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.idempotent import create_own, replace_own

FILE = ".hoodie/.paused/pause.json"
_MOST = 1000  # characters of a reason


@dataclass(frozen=True)
class Pause:
    """A pause of a table: its author, its reason, its start and its end, in UTC. `until` is None if a user has to end it."""

    by: str
    reason: str
    since: datetime
    until: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """True if services are held back at that time."""
        return self.until is None or now < self.until

    def __str__(self) -> str:
        until = f" until {_time_text(self.until)}" if self.until is not None else ""
        return f"by {self.by} since {_time_text(self.since)}{until}: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """The fields for programs, with times in ISO 8601."""
        return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in asdict(self).items()}


def read_pause(storage: Storage, clock: Clock) -> Pause | None:
    """The pause of the table that holds now; None: services may run. One storage call.

    A file that cannot be read counts as a pause by an unknown user, because a user wanted one.
    """
    try:
        result = _decoded(storage.read(FILE))
    except FileNotFoundError:
        return None
    return result if result.holds(clock.now()) else None


def pause(storage: Storage, clock: Clock, by: str, reason: str, until: datetime | None = None) -> Pause:
    """Hold back the services of the table. `until` has a time zone.

    Raises ConfigError without a reason or for a time that has passed, TablePausedError if the table is paused already.
    """
    now, reason = clock.now(), _plain(reason)
    try:
        until = until.astimezone(UTC) if until is not None else None
    except OverflowError:  # written down it could not be read again
        raise ConfigError(
            "A pause cannot end at this time", found=f"until {until}", fix="name a time of the years 1 to 9999 in UTC"
        ) from None
    if not reason:
        raise ConfigError("A pause needs a reason", fix="say why, for those who wonder why nothing runs: --reason '…'")
    if len(reason) > _MOST:
        raise ConfigError(
            "The reason of the pause is too long",
            found=f"{len(reason):,} characters",
            fix=f"say it in {_MOST:,} at most",
        )
    if until is not None and until <= now:
        raise ConfigError(
            "The pause would be over already", found=f"until {_time_text(until)}", fix="name a later time"
        )
    new_pause = Pause(_plain(by) or "somebody", reason, now, until)
    if not _put(storage, clock, json.dumps(new_pause.as_dict(), ensure_ascii=False).encode()):
        current = read_pause(storage, clock)
        raise TablePausedError(
            f"Table {storage.base_path} is paused already",
            found=str(current) if current is not None else "another one has paused it at this moment",
            fix="to change it, `hudi-services resume` first",
        )
    return new_pause


def _put(storage: Storage, clock: Clock, body: bytes) -> bool:
    """Write the file in place of a pause that is over. Returns False if another pause holds. Two callers cannot both succeed."""
    try:
        create_own(storage, FILE, body)
        return True
    except FileExistsError:
        pass
    try:
        old = storage.read(FILE)
    except FileNotFoundError:  # ended at this moment
        return False
    if _decoded(old).holds(clock.now()):
        return False
    if isinstance(storage, ReplacingStorage):
        return replace_own(storage, FILE, old, body)
    storage.delete(FILE)
    return _put(storage, clock, body)


def resume(storage: Storage) -> Pause | None:
    """Let services run again. Returns the pause that was there, even if it was over; None if the table had none."""
    try:
        result = _decoded(storage.read(FILE))
    except FileNotFoundError:
        return None
    storage.delete(FILE)
    return result


def refuse_paused(storage: Storage, clock: Clock, name: str, service: str) -> None:
    """Raise TablePausedError if the table is paused. Called before a service begins."""
    current = read_pause(storage, clock)
    if current is not None:
        raise TablePausedError(
            f"Table {name} is paused, so {service} does not run",
            found=str(current),
            fix="wait, or end it with `hudi-services resume`",
        )


def _decoded(data: bytes) -> Pause:
    try:
        body = json.loads(data)
        until = body.get("until")
        return Pause(
            _text(body["by"]), _text(body["reason"]), _time(body["since"]), _time(until) if until is not None else None
        )
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"{FILE} cannot be read: {type(error).__name__}: {error}"
        return Pause("somebody", why[:_MOST], datetime.fromtimestamp(0, UTC))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.50} is no text")
    return _plain(value)[:_MOST]


def _plain(text: str) -> str:
    """The text in one line, without signs that a terminal would obey or a file cannot hold."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _time(value: Any) -> datetime:
    result = datetime.fromisoformat(_text(value))
    if result.tzinfo is None:
        raise ValueError(f"{value!r:.50} has no time zone")
    return result.astimezone(UTC)


def _time_text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(sep=" ", timespec="minutes").replace("+00:00", " UTC")
