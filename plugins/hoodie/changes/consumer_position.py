"""The positions of named consumers: a small file for each below `.hoodie/.consumers`, which no reader of Hudi's looks at.

The file is replaced only on the condition that it has not changed, so of two processes with one name the later one notices.
"""

from __future__ import annotations

import json
import re
import shlex
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from hoodie.clock import Clock
from hoodie.errors import ConfigError, CorruptTableError, StaleConsumerError, check_argument
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.storage.idempotent import create_own, replace_own
from hoodie.transaction.locks.owner import user_name

FOLDER, _SUFFIX = ".hoodie/.consumers", ".json"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")  # no capitals: some file systems do not distinguish them
_MOST = 200  # bytes of a file's name without its suffix
_TIME = re.compile(r"\d{14}(\d{3})?")


@dataclass(frozen=True)
class Position:
    """The state of a consumer: the completion time of the last commit that it has read (None: it has read none), when, by
    whom. The token differs in each commit."""

    consumer: str
    position: Time | None
    committed_at: datetime
    committed_by: str
    token: str
    began: Time | None = None
    """The begin of the commit that began last of those that it has read (see `last_begin`); None where it is not known."""


@dataclass(frozen=True)
class StoredPosition:
    """A position with the content of its file, which the next commit replaces."""

    content: bytes
    position: Position


@dataclass(frozen=True)
class PositionFile:
    """The file that keeps the position of one consumer of a table. Raises ConfigError for a name that no consumer can have."""

    storage: Storage
    consumer: str

    def __post_init__(self) -> None:
        position_path(self.consumer)

    @property
    def path(self) -> str:
        """The place of the file."""
        return position_path(self.consumer)

    def load(self) -> StoredPosition | None:
        """The position that the consumer has committed; None: there is no such consumer yet.

        Raises CorruptTableError for a file that no consumer has written.
        """
        content = self.content()
        return StoredPosition(content, _decoded(self.storage, self.path, content)) if content is not None else None

    def content(self) -> bytes | None:
        """The bytes of the file, damaged or not; None: there is no file."""
        try:
            return self.storage.read(self.path)
        except FileNotFoundError:
            return None

    def new_position(self, position: Time | None, clock: Clock, began: Time | None = None) -> StoredPosition:
        """A position with the content that it would have in the file."""
        committer = f"{user_name()}@{socket.gethostname()}"
        position_now = Position(self.consumer, position, clock.now(), committer, str(clock.uuid()), began)
        body = asdict(position_now) | {"committed_at": position_now.committed_at.isoformat()}
        return StoredPosition(json.dumps(body, indent=2).encode(), position_now)

    def store(self, new: StoredPosition, old: StoredPosition | None) -> None:
        """Put a position in place of the old one; None: there was no file. To store the same one twice does no harm.

        After an error of the storage one of both is there. Raises StaleConsumerError when the file has another content,
        ConfigError on a storage that cannot replace a file on a condition.
        """
        storage = _replacing(self.storage)
        if old is None:
            try:
                create_own(storage, self.path, new.content)
            except FileExistsError as error:
                raise self._stale() from error
        elif not replace_own(storage, self.path, old.content, new.content) and self.content() != new.content:
            raise self._stale()

    def overwrite(self, new: StoredPosition) -> None:
        """Put a position in place of the one that is there, also of a damaged file. Raises what `store` raises."""
        storage, content = _replacing(self.storage), self.content()
        if content is None:
            self.store(new, None)
        elif not replace_own(storage, self.path, content, new.content):
            raise self._stale()

    def delete(self) -> bool:
        """Forget the consumer; False when there is none."""
        exists = self.content() is not None
        self.storage.delete(self.path)
        return exists

    def _stale(self) -> StaleConsumerError:
        try:
            now = self.load()
            result = (
                f"{now.position.committed_by} committed {now.position.position}" if now else "its position was deleted"
            )
        except (CorruptTableError, OSError) as error:
            result = str(error)
        return StaleConsumerError(
            f"Consumer {self.consumer!r} of table {self.storage.base_path} was moved since its last read",
            found=result,
            fix="nothing was stored. Let one process at a time use the name, or give each process a name of its own. Then read "
            "again: changes of the last read may have been handed out twice",
        )


def _replacing(storage: Storage) -> ReplacingStorage:
    if not isinstance(storage, ReplacingStorage):
        raise ConfigError(
            f"Table {storage.base_path} cannot keep the positions of consumers",
            found="a storage in which a file cannot be replaced on the condition that it has not changed",
            fix="use S3, Google Cloud Storage, Azure or a local disk, or keep the position yourself: it is the `start` of "
            "read_changes",
        )
    return storage


def position_path(consumer: str) -> str:
    """The file of a consumer. Letters and digits of its name stay, other characters are encoded. Raises ConfigError."""
    check_argument("name", consumer, "the name of a consumer as text", str)
    encoded = "".join(map(_encoded, consumer))
    if not consumer or not consumer.isprintable() or consumer != consumer.strip() or len(encoded) > _MOST:
        raise ConfigError(
            "A consumer cannot have this name",
            found=f"{consumer!r:.100}",
            fix=f"use 1 to {_MOST} letters and digits, without control characters and without spaces at its ends",
        )
    return f"{FOLDER}/{encoded}{_SUFFIX}"


def _encoded(character: str) -> str:
    if character in _PLAIN:
        return character
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def positions(storage: Storage) -> Iterator[Position | CorruptTableError]:
    """The position of each consumer of the table by the names of their files, or why it cannot be read. One listing, and one call
    for each consumer."""
    for file in sorted(storage.list(FOLDER).files, key=lambda file: file.name):
        if not file.name.endswith(_SUFFIX):  # the storage's own, such as that of a replacement under way
            continue
        try:
            position: Position | CorruptTableError = _decoded(storage, file.path, storage.read(file.path))
        except FileNotFoundError:  # deleted at this moment
            continue
        except CorruptTableError as error:
            position = error
        yield position


def unread_reason(consumer: str) -> str:
    """The reason why a commit is kept for a consumer, behind the name of the commit."""
    return f"which consumer {consumer!r} has not read"


def reset_command(consumer: str, to: str = "latest") -> str:
    """The command that moves a consumer."""
    return f"`hudi-services consumer reset {shlex.quote(consumer)} --to {to}`"


def _time(text: str | None) -> Time | None:
    if text is not None and not _TIME.fullmatch(text):
        raise ValueError(f"position {text!r:.50} is not a time")
    return Time.of(text) if text is not None else None


def _decoded(storage: Storage, path: str, content: bytes) -> Position:
    try:
        body = json.loads(content)
        position, began = map(_time, (body["position"], body.get("began")))
        texts = [body[name] for name in ("consumer", "committed_by", "token")]
        if not all(isinstance(text, str) for text in texts) or position_path(texts[0]) != path:
            raise ValueError(f"it belongs to consumer {texts[0]!r:.100}")
        committed_at = datetime.fromisoformat(body["committed_at"])
        if committed_at.tzinfo is None:
            raise ValueError(f"committed_at {body['committed_at']!r:.50} has no time zone")
        consumer, committer, token = texts
        return Position(consumer, position, committed_at, committer, token, began)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ConfigError) as error:
        raise CorruptTableError(
            f"The file {path} of table {storage.base_path} has no position of a consumer",
            found=f"{type(error).__name__}: {error}",
            fix="cleaning and archiving stop until it is right. If you know how far the consumer has read, use "
            "`hudi-services consumer reset NAME --to TIME`; otherwise use --to latest and read a snapshot",
        ) from error
