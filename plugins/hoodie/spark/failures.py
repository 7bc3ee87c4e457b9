"""Errors from the workers: what was raised there as a HoodieError, or as an error of the storage, is raised here as the same.

Spark passes on only the text of an exception, inside a stack trace; so the error itself travels in that text, as a line that
people can read too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import HoodieError, as_line, of_line


class CarriedError(RuntimeError):
    """Wraps an error on its way through Spark."""


_MARK = f"{CarriedError.__name__}: "


@contextmanager
def carrying_errors() -> Iterator[None]:
    """In a worker: pack an error for the journey."""
    try:
        yield
    except (HoodieError, OSError) as error:
        raise CarriedError(as_line(error)) from error


@contextmanager
def raised_errors() -> Iterator[None]:
    """In the driver: raise what a worker packed; anything else as it is."""
    try:
        yield
    except Exception as error:
        carried = of_line(str(error).partition(_MARK)[2])
        if carried is None:
            raise
        raise carried from None
