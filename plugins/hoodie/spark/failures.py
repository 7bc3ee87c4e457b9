"""Errors from the workers: what was raised there as a HoodieError is raised here as the same HoodieError.

Spark passes on only the text of an exception, inside a stack trace; so the error itself travels in that text.
"""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import HoodieError

_MARK = re.compile(r"CarriedError: \[([A-Za-z0-9+/=]+)\]")


class CarriedError(RuntimeError):
    """Wraps a HoodieError on its way through Spark."""


@contextmanager
def carrying_errors() -> Iterator[None]:
    """In a worker: pack a HoodieError for the journey."""
    try:
        yield
    except HoodieError as error:
        packed = base64.b64encode(pickle.dumps(error)).decode()
        raise CarriedError(f"[{packed}] {error}") from error


@contextmanager
def raised_errors() -> Iterator[None]:
    """In the driver: raise what a worker packed; anything else as it is."""
    try:
        yield
    except Exception as error:
        found = _MARK.search(str(error))
        if found is None:
            raise
        original: HoodieError = pickle.loads(base64.b64decode(found[1]))
        raise original from None
