"""Messages of one table among those of many, by the names of database and table that the messages have."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.changes import Outcome
from hudi_services.sources.cdc.messages.debezium_changes import OTHER_TABLE, with_value
from hudi_services.sources.cdc.messages.json_objects import JsonObjects


@dataclass(frozen=True)
class Heads:
    """Heads of messages. `texts` are as `JsonObjects.read` takes them, `values` structs with their head."""

    numbers: np.ndarray
    texts: pa.Array
    values: pa.StructArray

    def filter(self, flags: np.ndarray) -> Heads:
        """Return those for which `flags` is true."""
        if flags.all():
            return self
        mask = pa.array(flags)
        return Heads(self.numbers[flags], self.texts.filter(mask), self.values.filter(mask))

    def column(self, name: str) -> pa.Array:
        """Return a member of all heads."""
        return pc.struct_field(self.values, name)


def wanted_heads(messages: pa.Table, kind: pa.StructType, pattern: str | None, outcome: Outcome) -> Heads | None:
    """Return the heads of the messages of a table that `pattern` names. None where no message has a value."""
    values, places = with_value(messages, outcome)
    if not len(places):
        return None
    texts = pc.binary_join_element_wise(values.cast(pa.binary()), b"}", b"")
    return of_wanted_table(heads_of(texts, places, kind, outcome), pattern, outcome)


def heads_of(texts: pa.Array, places: np.ndarray, kind: pa.StructType, outcome: Outcome) -> Heads:
    """Return the heads of the messages that are objects. All others are rejected."""
    parts = list(JsonObjects(kind, outcome.errors, unknown="ignore").read(texts, places))
    numbers = np.concatenate([part for part, _ in parts]) if parts else np.zeros(0, np.int64)
    values = pa.concat_arrays([part for _, part in parts]) if parts else pa.array([], kind)
    rows = np.searchsorted(places, numbers)
    heads = Heads(numbers, texts if len(rows) == len(texts) else texts.take(pa.array(rows)), values)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    outcome.reject(numbers[~valid], "null in place of an object")
    return heads.filter(valid)


def of_wanted_table(heads: Heads, pattern: str | None, outcome: Outcome) -> Heads:
    """Return those of the tables that a pattern such as `shop.orders` or `shop_*.orders` names, and count the others.

    Without a pattern all messages have to be of the first one's table: those of others are rejected. Events of a database alone,
    and messages that name nothing, are kept.
    """
    names = pc.binary_join_element_wise(
        heads.column("database").fill_null(""), heads.column("table").fill_null(""), "."
    )
    names = names.dictionary_encode()
    tables = names.dictionary.to_pylist()
    if pattern is None:
        pattern = next((glob.escape(name) for name in tables if not name.endswith(".")), "*")
        matches = np.isin(names.indices.to_numpy(), _of(tables, pattern))
        reason = f"a change of another table than {pattern}: name the table that is wanted, which may have * in it"
        outcome.reject(heads.numbers[~matches], reason)
    else:
        matches = np.isin(names.indices.to_numpy(), _of(tables, pattern))
        outcome.ignored[OTHER_TABLE] += int((~matches).sum())
    return heads.filter(matches)


def _of(tables: Sequence[str], pattern: str) -> list[int]:
    """The numbers of the tables that the pattern names, and of databases that may have one."""
    database = pattern.partition(".")[0]
    return [
        number
        for number, name in enumerate(tables)
        if fnmatchcase(name, pattern) or (name.endswith(".") and (name == "." or fnmatchcase(name[:-1], database)))
    ]
