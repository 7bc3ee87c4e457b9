"""Open data files of a table: the error of a missing one names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import MissingFileError, rollback_fix
from hoodie.model.names import BaseFileName
from hoodie.storage.base import File, Storage, closing_input


@contextmanager
def data_file(storage: Storage, path: str, kind: str) -> Iterator[File]:
    """A base or log file (`kind`, for the message), open for reading. Raises MissingFileError, also when it is deleted during
    the read."""
    with telling_missing(f"{storage.base_path}/{path}", kind), closing_input(storage, path) as source:
        yield source


@contextmanager
def telling_missing(where: str, kind: str) -> Iterator[None]:
    """Around the opening and reading of a data file."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{kind} file {where} is missing",
            found="the timeline says that it is there",
            fix="read again if a cleaner ran during the query, or retain more commits (hoodie.clean.commits.retained) if queries "
            f"take longer than those; otherwise restore the file from a copy, or {rollback_fix(writer_of(where))}",
        ) from error


def writer_of(path: str) -> str | None:
    """The instant that wrote a base file, by its name; None for other files: a log may have the name of its file slice."""
    name = BaseFileName.parse(path.rpartition("/")[2])
    return name.instant if name is not None else None
