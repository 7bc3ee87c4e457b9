"""Identities of places: one text for a folder, however it is spelled. It is a key of locks and stores, never a path to open."""

from __future__ import annotations

import os
import posixpath
import re

_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "az": "abfss", "abfs": "abfss"}  # other names of one file system
_HOSTLESS = ("gs", "memory", "s3")  # their file systems ignore slashes before the first name
_WITHOUT_HOST = re.compile(r"^(\w+):/(?!/)")  # as Hadoop writes URLs that name no host


def identity(path: str) -> str:
    """One spelling for a folder, however it was given.

    Local paths and `file:` URLs are absolute, without links; other URLs have no empty, `.` or `..` steps, and one name of their
    file system, such as `s3` for `s3a`.
    """
    path = _WITHOUT_HOST.sub(r"\1:///", path)
    if path.startswith("local://"):  # fsspec's other name of `file`
        path = path.replace("local", "file", 1)
    local = path.removeprefix("file:")
    if local == path and "://" in path:
        scheme, _, location = path.partition("://")
        scheme = _SCHEMES.get(scheme, scheme)
        location = location.lstrip("/") if scheme in _HOSTLESS else location
        return f"{scheme}://{posixpath.normpath(location)}"
    if local != path:
        local = local.removeprefix("//localhost")
    try:
        return os.path.realpath(re.sub(r"^/+", "/", local))
    except ValueError:  # a zero byte, or half a character: no file has such a name
        return local


def is_local(path: str) -> bool:
    """True for a path on this machine, also as a `file:` URL. A folder may be named `a:b`: a scheme has a slash after it."""
    path = _WITHOUT_HOST.sub(r"\1:///", path)
    return "://" not in path or path.startswith(("file:", "local:"))


def is_relative(path: str) -> bool:
    """True for a path in the working directory, which is another folder for each process."""
    return is_local(path) and not path.removeprefix("local:").removeprefix("file:").startswith("/")


def absolute(path: str) -> str:
    """A path on this machine as every process reads it, others as they are."""
    return os.path.abspath(path.removeprefix("local:").removeprefix("file:")) if is_relative(path) else path


def same_table(path: str, other: str) -> bool:
    """True when two base paths are those of one table."""
    return path == other or identity(path) == identity(other)


def lies_in(path: str, folder: str) -> bool:
    """True when a path is that folder or inside it, both as `identity` gives them."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
