"""Match of incoming rows with stored rows of the same key, and the winner of the two. Pure Arrow in, NumPy out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.merge.ordering import incoming_wins
from hoodie.model.internal_columns import DELETE, POSITION, RESET
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.schema import top_level
from hoodie.schema.nested import one_chunk


@dataclass(frozen=True, slots=True)
class Meeting:
    """Pairs of a stored and an incoming row of one key: their places, and what becomes of the stored row."""

    stored: npt.NDArray[np.int64]
    incoming: npt.NDArray[np.int64]
    replaces: npt.NDArray[np.bool_]
    removes: npt.NDArray[np.bool_]


class Incoming:
    """Incoming rows, at most one a key, ready to meet batches of stored rows."""

    def __init__(self, rows: pa.Table, ordering: Sequence[str], key: str = RECORD_KEY) -> None:
        """`rows` are in one chunk and have `@delete`; rows from logs also have `@reset`: such a row wins with any `ordering`
        values. `ordering` is empty when the incoming row always wins. Rows match if their values of `key` are equal."""
        self._rows = rows
        self._ordering = tuple(ordering)
        self._key, self._keys = key, one_chunk(rows[key])
        self._places = _places_of(_numpy(self._keys)) if key == POSITION else None
        self._resets = one_chunk(rows[RESET]) if RESET in rows.schema.names else None
        self.deletes = _numpy(one_chunk(rows[DELETE]))
        self.matched = np.zeros(rows.num_rows, dtype=bool)  # until now

    def meet(self, batch: pa.Table) -> Meeting | None:
        """`batch` has the key and the ordering columns. None when it has none of the keys."""
        stored, incoming = self._pairs(one_chunk(batch[self._key]))
        if len(stored) == 0:
            return None
        self.matched[incoming] = True
        deletes = self.deletes[incoming]
        wins = np.ones(len(incoming), dtype=bool)
        if self._ordering:
            places = pa.array(incoming)
            columns = top_level(self._ordering)
            new = self._rows.select(columns).take(places)
            old = batch.select(columns).take(pa.array(stored))
            wins = _numpy(one_chunk(incoming_wins(new, old, self._ordering)))
            if self._resets is not None:
                wins = wins | _numpy(self._resets.take(places))
        return Meeting(stored, incoming, wins & ~deletes, wins & deletes)

    def _pairs(self, keys: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The places of stored keys that are among the incoming ones, and the places of these."""
        if self._places is None:
            matches = pc.index_in(keys, value_set=self._keys)
            return np.flatnonzero(_numpy(pc.is_valid(matches))), _numpy(pc.drop_null(matches)).astype(np.int64)
        numbers = _numpy(keys)
        matching = np.flatnonzero(numbers < len(self._places))
        places = self._places[numbers[matching]]
        hits = np.flatnonzero(places >= 0)
        return matching[hits], places[hits]


def _places_of(positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """By row number of the base file, up to the last of `positions`: its place in these, -1 for others."""
    places = np.full(positions.max(initial=-1) + 1, -1)
    places[positions] = np.arange(len(positions))
    return places


def _numpy(array: pa.Array) -> np.ndarray:
    """Its values, which have no nulls."""
    values: np.ndarray = array.to_numpy(zero_copy_only=False)
    return values
