"""Files of which the maker must know whether they are there, also when the answer was lost."""

from __future__ import annotations

import errno
from enum import Enum

from hoodie.storage.base import ReplacingStorage, Storage

# Errors of a store that are final. After any other error it may have made the file, or may still make it.
_REFUSED = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT),
        *(errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.EEXIST),
    }
)


class Outcome(Enum):
    """Outcome of a `create` that raised an error."""

    DONE = "the file is there, with our content"
    OTHER = "a file with other content is there"
    REFUSED = "the file is not there, and will not be"
    UNCLEAR = "the file may be there, or may yet come"


def create_own(storage: Storage, path: str, data: bytes) -> None:
    """Create a file that no other writer makes with this content. After an error the file is looked for, once: done is done.

    A client that sends a request again because the answer was lost meets its own file. Raises what `Storage.create` raised
    unless the file is there with this content.
    """
    try:
        storage.create(path, data)
    except Exception as error:
        if outcome_of(storage, path, data, error) is not Outcome.DONE:
            raise


def replace_own(storage: ReplacingStorage, path: str, old: bytes, new: bytes) -> bool:
    """Replace a content by one that no other writer makes; False when the file had another content than `old`.

    After an error the file is looked for, once: done is done. Raises what `ReplacingStorage.replace` raised when it still has, or
    may still have, the old content.
    """
    try:
        return storage.replace(path, old, new)
    except Exception:
        try:
            content = storage.read(path)
        except Exception:  # noqa: BLE001 - the first error says more
            content = old
        if content == old:
            raise
        return content == new


def outcome_of(storage: Storage, path: str, data: bytes, error: Exception) -> Outcome:
    """State of the file after `Storage.create` raised `error` for it. Raises nothing."""
    try:
        content = storage.read(path)
    except FileNotFoundError:
        refused = isinstance(error, OSError) and error.errno in _REFUSED
        return Outcome.REFUSED if refused else Outcome.UNCLEAR
    except Exception:  # noqa: BLE001 - any error of a storage
        return Outcome.UNCLEAR
    return Outcome.DONE if content == data else Outcome.OTHER
