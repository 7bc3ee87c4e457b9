"""Rows in JSON whose columns no schema declares: they are those of the target, and what the rows have beside them is guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages.connect_rows import Row
from hudi_services.sources.cdc.messages.guesses import Guess, add_members, types_of
from hudi_services.sources.cdc.messages.json_members import UnknownColumnError
from hudi_services.sources.cdc.messages.json_objects import JsonObjects, is_deep
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed
from hudi_services.sources.cdc.messages.plain_columns import ValueFormat, plain_row

Objects = list[tuple[np.ndarray, pa.StructArray]]
"""Objects, with the places of their texts."""


@dataclass(frozen=True)
class OpenRows:
    """Reads objects that hold rows.

    `frame` gives the type of the objects with rows of a type, `members` are the names of the rows in them (none: the object is
    the row). `lenient` is that of `JsonObjects`. `first` reads the values that it can as objects of a type, and says which are
    left. `texts` makes texts of values.
    """

    frame: Callable[[pa.StructType], pa.StructType]
    members: Sequence[str]
    known: pa.Schema | None
    writing: ValueFormat
    errors: dict[int, str]
    lenient: bool = False
    first: Callable[[pa.StructType, pa.Array, np.ndarray], tuple[Objects, np.ndarray]] | None = None
    texts: Callable[[pa.Array], pa.Array] = lambda values: values

    def read(self, values: pa.Array, places: np.ndarray) -> tuple[Row, list[tuple[np.ndarray, pa.StructArray]]]:
        """Return the row, and the objects with the places of their texts. Texts and places are those of `JsonObjects.read`."""
        if self.known is not None:
            row = plain_row(self.known, {}, self.writing)
            before = dict(self.errors)
            objects, left = self.first(self.frame(row.raw), values, places) if self.first is not None else ([], None)
            rest, numbers = (values, places) if left is None else (values.filter(pa.array(left)), places[left])
            try:
                return row, [*objects, *self._objects(row, self.texts(rest), numbers, self.members)]
            except UnknownColumnError:
                self.errors.clear()
                self.errors.update(before)
        texts = self.texts(values)
        row = plain_row(self.known, types_of(self._guesses(texts)), self.writing)
        return row, self._objects(row, texts, places, None)

    def _objects(
        self, row: Row, texts: pa.Array, places: np.ndarray, members: Sequence[str] | None
    ) -> list[tuple[np.ndarray, pa.StructArray]]:
        kind = self.frame(row.raw)
        reader = JsonObjects(kind, self.errors, lenient=self.lenient, rows=members)
        return list(reader.read(texts, places))

    def _guesses(self, texts: pa.Array) -> dict[str, Guess]:
        guesses: dict[str, Guess] = {}
        for text in texts.to_pylist():
            try:
                value = None if is_deep(text) else parsed(b'{"m":' + text).get("m")
            except FaultError:
                continue  # its reader rejects it
            if isinstance(value, dict):
                for name in self.members or ("",):
                    rows = value.get(name) if name else value
                    for row in rows if isinstance(rows, list) else [rows]:
                        if isinstance(row, dict):
                            add_members(guesses, row.items())
        return guesses
