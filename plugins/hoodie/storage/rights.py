"""Missing rights: to which file or folder, for which user, and the command that gives them."""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import stat
from pathlib import Path
from typing import TypeGuard

from hoodie.errors import AccessDeniedError


def is_denied(error: BaseException) -> TypeGuard[OSError]:
    """Return whether an error says that this process has no right to a file or folder, on a disk or in an object store."""
    denied = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM)
    return denied or isinstance(error, PermissionError)  # stores raise one without a number


def access_denied(doing: str, error: OSError, path: str | None = None) -> AccessDeniedError:
    """The error that names the user, the place and a fix. `path` is that of the file if the error does not have it."""
    if isinstance(error, AccessDeniedError):  # the store refuses the credentials
        return error
    name = path or error.filename
    reason, fix, command = str(error), "give this process the right at the storage, then run it again", ""
    if isinstance(name, str) and os.path.isabs(name):
        place, user = _closed(Path(name)), _user()
        reason, command = f"user {user} may not use {place}{_mode(place)}", _command(user, _whole_table(place))
        fix = f"give it the right, such as by `{command}`, or run as the owner"
    denied = AccessDeniedError(f"A right is missing for {doing}", found=reason, fix=fix, command=command)
    denied.errno, denied.filename = error.errno, error.filename
    return denied


def _closed(path: Path) -> Path:
    """The highest folder that the user cannot enter, the file if it cannot be read, or its folder, which cannot be written."""
    for folder in reversed(path.parents):
        if folder.exists() and not os.access(folder, os.X_OK):
            return folder
    if path.exists() and not os.access(path, os.R_OK):
        return path
    return next((folder for folder in path.parents if folder.exists()), path)


def _whole_table(place: Path) -> Path:
    """The folder of the table that `place` is the timeline of: a right to the timeline alone opens no data file."""
    return next((folder.parent for folder in (place, *place.parents) if folder.name == ".hoodie"), place)


def _user() -> str:
    """The name of the user; the number of one without a name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _mode(place: Path) -> str:
    try:
        return f" (mode {stat.filemode(place.stat().st_mode)}, owner {place.owner()})"
    except (OSError, KeyError):  # the folder above is closed, or the owner has no name
        return ""


def _command(user: str, place: Path) -> str:
    return f"sudo setfacl -R -m u:{user}:rwX {shlex.quote(str(place))}"
