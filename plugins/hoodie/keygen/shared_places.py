"""Rows that share a key or a folder although their values differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def sharing(place: Sequence[pa.ChunkedArray], values: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Boolean, never null: true where another row has the same `place` and other `values`. Nulls are equal."""
    places = _numbered(place)
    rows = _numbered([pa.chunked_array([places]), *values])
    _, first = np.unique(rows, return_index=True)
    several = np.bincount(places[first]) > 1
    return pa.chunked_array([pa.array(several[places])])


def _numbered(columns: Sequence[pa.ChunkedArray]) -> np.ndarray:
    """Numbers from 0 on, equal where two rows have the same values, nulls among them."""
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode").indices.to_numpy()
        _, numbers = np.unique(numbers * (int(codes.max()) + 1) + codes, return_inverse=True)
    return numbers
