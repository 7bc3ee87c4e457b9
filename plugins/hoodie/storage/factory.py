"""Storage of a base path."""

from __future__ import annotations

import os
import re

from hoodie.errors import ArgumentError, ConfigError
from hoodie.storage.base import Storage
from hoodie.storage.etag import AzureStorage, GcsStorage
from hoodie.storage.local import LocalStorage
from hoodie.storage.remote import FsspecStorage
from hoodie.storage.s3 import S3Storage

BasePath = str | os.PathLike[str] | Storage
"""The location of a table: a path as text or `pathlib.Path`, a URL, or a storage."""

_OF_HOST = re.compile(r"file://(?!/)([^/]*)", re.DOTALL)  # what follows is a path on that host
_URL_AS_PATH = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")


def storage_of(base_path: BasePath) -> Storage:
    """The storage of a base path. Raises what `open_storage` raises."""
    if not isinstance(base_path, str | os.PathLike) and hasattr(base_path, "open_output"):
        return base_path
    return open_storage(base_path)  # type: ignore[arg-type] # raises for any other value


def open_storage(base_path: str | os.PathLike[str]) -> Storage:
    """The storage of a base path: a plain path or `file:` URL is local, any other URL goes through fsspec.

    Raises ConfigError for an empty path, which would be the working directory, and for a `file:` URL with the name of a host;
    ArgumentError for what is not a path, or a URL that lost one of its slashes: it would be a folder here.
    """
    text = _without_host(_text_of(base_path))
    if not text.removeprefix("file:").strip():
        raise ConfigError("The path of the table or source is empty", found=repr(text), fix="give a path or URL")
    if text.startswith("file:") or "://" not in text:
        return LocalStorage(text)
    if text.startswith(("s3://", "s3a://")):
        return S3Storage(text)
    if text.startswith(("gs://", "gcs://")):
        return GcsStorage(text)
    if text.startswith(("abfs://", "abfss://", "az://")):
        return AzureStorage(text)
    return FsspecStorage(text)


def _without_host(text: str) -> str:
    """A `file:` URL of this machine without its name. Raises ConfigError for another host, as of a path with two slashes in
    place of three, which would be a folder in the working directory."""
    of_host = _OF_HOST.match(text)
    if of_host is None:
        return text
    host, path = of_host[1], text[of_host.end() :]
    if not host:
        return ""
    if host.lower() == "localhost" and path:
        return f"file:{path}"
    raise ConfigError(
        "A file: URL names a host, and not this machine",
        found=f"{text!r:.200}, the host is {host!r:.50}",
        fix=f"give the path with three slashes, such as file:///{host}{path}",
    )


def _names_a_file(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half a character
        return False


def _text_of(path: object) -> str:
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str) or not _names_a_file(text):
        raise ArgumentError(
            "The path of a table or source is neither text that names a file nor a pathlib.Path",
            found=f"{path!r:.200} ({type(path).__name__})",
            fix="give a path or URL",
        )
    if _URL_AS_PATH.match(text):
        raise ArgumentError(
            "A URL has lost one of its slashes, as where a pathlib.Path is made of it",
            found=text,
            fix=f"give the URL as text: {text.replace(':/', '://', 1)}, or a local folder of that name as ./{text}",
        )
    return text
