"""One bad message among many: work on all at once, and on fewer where that fails, until the bad ones are alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import pyarrow as pa

T = TypeVar("T")
FAULTS = (ValueError, pa.ArrowException, OverflowError)
"""Errors of reading a wrong value."""


def isolate(
    places: np.ndarray,
    read: Callable[[np.ndarray], T],
    fallback: Callable[[np.ndarray, Exception], Iterator[tuple[np.ndarray, T]]],
    few: int = 1,
) -> Iterator[tuple[np.ndarray, T]]:
    """Yield what `read` returns for parts of the `places`, in order.

    `fallback` gets the parts of up to `few` places that it cannot read, and the error.
    """
    if not len(places):
        return
    try:
        result = read(places)
    except FAULTS as error:
        if len(places) <= few:
            yield from fallback(places, error)
            return
    else:
        yield places, result
        return
    half = len(places) // 2
    yield from isolate(places[:half], read, fallback, few)
    yield from isolate(places[half:], read, fallback, few)


def some(values: pa.Array, places: np.ndarray) -> pa.Array:
    """Return the values at these places. All of them are not copied."""
    return values if len(places) == len(values) else values.take(pa.array(places))
