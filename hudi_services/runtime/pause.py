"""The pause of a table: a file below `.hoodie/.paused`, which no reader of Hudi's looks at, so all who share the table see it.

It holds back services, not writers: writes through the library or through Hudi go on.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hoodie.clock import Clock, SystemClock
from hoodie.errors import ConfigError, HoodieError, StorageError, TablePausedError
from hoodie.storage import Storage, open_storage
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.idempotent import create_own, replace_own

FILE = ".hoodie/.paused/pause.json"
_ENDED = "ended"
"""The key of a pause that a user has ended. Its `until` has passed, so that older releases let services run, too."""
_NO_FILE = (IsADirectoryError, NotADirectoryError)  # a folder has the place of the file, or a file that of its folder
_MOST = 1000  # characters of a reason
_AT_ONCE = 16  # tables whose pause is read


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
    except _NO_FILE as error:
        return _unknown(error)
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
    except (FileExistsError, *_NO_FILE):
        pass
    try:
        old = storage.read(FILE)
    except (FileNotFoundError, *_NO_FILE):  # the first: ended at this moment
        return False
    if _decoded(old).holds(clock.now()):
        return False
    if isinstance(storage, ReplacingStorage):
        return replace_own(storage, FILE, old, body)
    storage.delete(FILE)
    return _put(storage, clock, body)


def resume(storage: Storage, shown: str | None = None) -> Pause | None:
    """Let services run again. Returns the pause that was there, even if its time was over; None if the table had none.

    `shown` is the text of the pause that the user has seen. Raises TablePausedError, and ends no pause, if another one holds,
    also if it came at this moment. A storage that replaces no file in one step cannot see the latter.
    """
    try:
        old = storage.read(FILE)
    except FileNotFoundError:
        return None
    except _NO_FILE as error:
        raise _unknown_file(storage, error) from None
    if _is_ended(old):
        return None
    result = _decoded(old)
    if shown is not None and shown != str(result):
        raise _other_pause(storage, result)
    if not isinstance(storage, ReplacingStorage):
        storage.delete(FILE)
    elif not replace_own(storage, FILE, old, _ended(result)):
        _check_ended(storage)
        return None
    return result


def _check_ended(storage: Storage) -> None:
    """Raises TablePausedError for a pause that came at this moment; none where another user has ended the one before."""
    try:
        current = storage.read(FILE)
    except FileNotFoundError:
        return
    if not _is_ended(current):
        raise _other_pause(storage, _decoded(current))


def _other_pause(storage: Storage, current: Pause) -> TablePausedError:
    return TablePausedError(
        f"Another pause of table {storage.base_path} is there now, and was not ended",
        found=str(current),
        fix="ask its author; to end it, run `hudi-services resume`",
    )


def _unknown_file(storage: Storage, error: OSError) -> TablePausedError:
    folder = isinstance(error, IsADirectoryError)
    place = f"{storage.base_path}/{FILE if folder else FILE.rpartition('/')[0]}"
    return TablePausedError(
        f"The pause of table {storage.base_path} cannot be ended",
        found=f"{place} is {'a folder' if folder else 'a file'}",
        fix=f"look at it, then remove it: rm -r {shlex.quote(place)}",
    )


def refuse_paused(storage: Storage, clock: Clock, name: str, service: str) -> None:
    """Raise TablePausedError if the table is paused. Called before a service begins."""
    current = read_pause(storage, clock)
    if current is not None:
        raise TablePausedError(
            f"Table {name} is paused, so {service} does not run",
            found=str(current),
            fix="wait, or end it with `hudi-services resume`",
        )


def pause_errors(base_paths: Iterable[str], service: str) -> dict[str, HoodieError]:
    """Why `service` does not run on tables: TablePausedError for a paused one, StorageError where the pause cannot be read."""

    def error_of(base_path: str) -> HoodieError | None:
        try:
            refuse_paused(open_storage(base_path), SystemClock(), base_path, service)
        except HoodieError as error:
            return error
        except OSError as error:
            return StorageError(f"The pause of table {base_path} cannot be read", found=str(error))
        return None

    paths = list(dict.fromkeys(base_paths))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        errors = zip(paths, pool.map(error_of, paths), strict=True)
        return {path: error for path, error in errors if error is not None}


def _decoded(data: bytes) -> Pause:
    try:
        body = json.loads(data)
        until = body.get("until")
        return Pause(
            _text(body["by"]), _text(body["reason"]), _time(body["since"]), _time(until) if until is not None else None
        )
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return _unknown(error)


def _unknown(error: Exception) -> Pause:
    why = _plain(f"{FILE} cannot be read: {type(error).__name__}: {error}")
    return Pause("somebody", why[:_MOST], datetime.fromtimestamp(0, UTC))


def _ended(ended_pause: Pause) -> bytes:
    over = replace(ended_pause, until=datetime.fromtimestamp(0, UTC))
    return json.dumps({**over.as_dict(), _ENDED: True}, ensure_ascii=False).encode()


def _is_ended(data: bytes) -> bool:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and body.get(_ENDED) is True


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
