"""Integers of the binlog: bytes of any width, over all rows at once."""

from __future__ import annotations

import numpy as np


def little(raw: np.ndarray) -> np.ndarray:
    """Return numbers of up to eight bytes, the lowest byte first. `raw` has the shape (rows, width)."""
    padded = np.zeros((len(raw), 8), np.uint8)
    padded[:, : raw.shape[1]] = raw
    return padded.view("<i8")[:, 0]


def big(raw: np.ndarray) -> np.ndarray:
    """Return numbers of up to eight bytes, the highest byte first."""
    return little(raw[:, ::-1])
