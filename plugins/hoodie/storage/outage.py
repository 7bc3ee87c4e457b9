"""Storages that do not answer: the errors that say so, and the error that names what keeps a storage from being used."""

from __future__ import annotations

import errno
from typing import TypeGuard

from hoodie.errors import StorageError
from hoodie.storage.rights import access_denied, is_denied

_NUMBERS = frozenset(
    {
        errno.EIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.ECONNABORTED,
        errno.EHOSTUNREACH,
        errno.EHOSTDOWN,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.ENOTCONN,
    }
)


def is_outage(error: BaseException) -> TypeGuard[OSError]:
    """Return whether an error says that a storage does not answer, or fails. Numbers below zero are of the resolver of names."""
    if not isinstance(error, OSError):
        return False
    number = error.errno if isinstance(error.errno, int) else 0
    return isinstance(error, ConnectionError | TimeoutError) or number < 0 or number in _NUMBERS


def store_code(error: OSError) -> str:
    """S3's own word for an error."""
    response = getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def storage_error(error: BaseException, doing: str, place: str) -> StorageError | None:
    """The error that says what keeps the storage at `place` from being used: a missing right, or no answer. None for others."""
    if isinstance(error, StorageError):
        return error
    if is_denied(error):
        return access_denied(doing, error)
    if not is_outage(error):
        return None
    return StorageError(
        f"The storage of {place} does not answer",
        found=str(error) or type(error).__name__,
        fix="look whether it runs and whether its address and the network are right, then try again; nothing was changed",
    )
