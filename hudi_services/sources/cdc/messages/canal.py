"""Messages of Canal, `canal-json`: several rows in one message, all values as texts, the types beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.changes import Changes, Outcome, without_images
from hudi_services.sources.cdc.messages.connect_rows import Row
from hudi_services.sources.cdc.messages.contract import Decoded, Statement
from hudi_services.sources.cdc.messages.isolation import isolate, some
from hudi_services.sources.cdc.messages.json_members import UnknownColumnError
from hudi_services.sources.cdc.messages.json_objects import JsonObjects
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed
from hudi_services.sources.cdc.messages.maxwell import images
from hudi_services.sources.cdc.messages.old_rows import null_members, rows_before
from hudi_services.sources.cdc.messages.printed_columns import printed_row, row_counts
from hudi_services.sources.cdc.messages.tables import Heads, wanted_heads

_OPS = {"INSERT": "i", "UPDATE": "u", "DELETE": "d"}
_STATEMENTS = ("CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY")
_CONTROL = ("TIDB_WATERMARK",)
_TEXT = r'"(?:[^"\\]|\\.)*"'
_TYPES = re.compile(rf'"mysqlType"\s*:\s*(\{{\s*(?:{_TEXT}\s*:\s*{_TEXT}\s*,?\s*)*\}})')
_HEAD = pa.struct([*((name, pa.string()) for name in ("type", "database", "table", "sql")), ("isDdl", pa.bool_())])


@dataclass(frozen=True)
class CanalJson:
    """The format `canal-json`, also of TiCDC.

    `table` names the table, as `shop.orders` or with a pattern, as `shop_*.orders`. `zone` is the time zone in which the
    producer writes TIMESTAMP, such as UTC: the messages do not say it.
    """

    table: str | None = None
    zone: str | None = None

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold."""
        outcome = Outcome()
        heads = wanted_heads(messages, _HEAD, self.table, outcome)
        if heads is not None:
            for types, part in _by_types(_without_others(heads, outcome), outcome):
                self._rows(types, part, known, outcome)
        return outcome.decoded()

    def _rows(self, types: str, heads: Heads, known: pa.Schema | None, outcome: Outcome) -> None:
        try:
            declared: dict[str, str | None] = parsed(types.encode())
            row, objects = self._objects(declared, heads, known, outcome)
        except FaultError as error:
            outcome.reject(heads.numbers, str(error))
            return
        updates = heads.filter(pc.equal(heads.column("type"), "UPDATE").to_numpy(zero_copy_only=False))
        nulls = null_members(updates.texts, updates.numbers)
        for numbers, structs in objects:
            for _, changes in _good_changes(numbers, structs, row, nulls, outcome):
                outcome.changes.append(without_images(changes, outcome))

    def _objects(
        self, declared: dict[str, str | None], heads: Heads, known: pa.Schema | None, outcome: Outcome
    ) -> tuple[Row, list[tuple[np.ndarray, pa.StructArray]]]:
        while True:
            row = printed_row(declared, known, self.zone)
            rows = pa.list_(row.raw)
            kind = pa.struct([("type", pa.string()), ("data", rows), ("old", rows)])
            reader = JsonObjects(kind, outcome.errors, lenient=True, rows=("data", "old"))
            try:
                return row, list(reader.read(heads.texts, heads.numbers))
            except UnknownColumnError as error:
                declared[str(error)] = None


def _without_others(heads: Heads, outcome: Outcome) -> Heads:
    """The messages of rows. Statements and control events are noted."""
    kinds, ddl = heads.column("type"), heads.column("isDdl").fill_null(False)
    rows = pc.and_(pc.is_in(kinds, value_set=pa.array([*_OPS])), pc.invert(ddl)).to_numpy(zero_copy_only=False)
    others = heads.filter(~rows)
    for number, head in zip(others.numbers, others.values.to_pylist(), strict=True):
        kind = head["type"]
        if head["isDdl"] or kind in _STATEMENTS:
            outcome.statements.append(Statement(int(number), head["sql"] or str(kind)))
        elif kind in _CONTROL:
            outcome.ignored["control event"] += 1
        else:
            reason = "no change of Canal: it has no type" if kind is None else f"an event of the type {kind!r:.40}"
            outcome.reject(np.array([number]), reason)
    return heads.filter(rows)


def _by_types(heads: Heads, outcome: Outcome) -> Iterator[tuple[str, Heads]]:
    while len(heads.numbers):
        match = _TYPES.search(heads.texts[0].as_py().decode())
        if match is None:
            outcome.reject(heads.numbers[:1], "rows without the types of their columns (mysqlType)")
            same = np.arange(len(heads.numbers)) == 0
        else:
            # Its quotes are not escaped, so it is not inside of a text.
            same = pc.match_substring(heads.texts, match[0]).to_numpy(zero_copy_only=False)
            yield match[1], heads.filter(same)
        heads = heads.filter(~same)


def _good_changes(
    numbers: np.ndarray, structs: pa.StructArray, row: Row, nulls: dict[int, list[frozenset[str]]], outcome: Outcome
) -> Iterator[tuple[np.ndarray, Changes]]:
    def changes(rows: np.ndarray) -> Changes:
        chosen = some(structs, rows)
        data, old = pc.struct_field(chosen, "data"), pc.struct_field(chosen, "old")
        counts, olds = row_counts(data), row_counts(old)
        if (counts == 0).any():
            raise FaultError("a change without rows")
        if ((olds != counts) & (olds > 0)).any():
            raise FaultError("another number of old rows than of rows")
        after = row.values(pc.list_flatten(data))
        places = np.repeat(olds > 0, counts)
        before = row.values(
            pc.list_flatten(old).take(pa.array(np.cumsum(places) - 1, mask=~places))
            if places.any()
            else pa.nulls(len(places), row.raw)
        )
        spread = np.repeat(numbers[rows], counts)
        emptied = (
            (int(first) + step, names)
            for number, first in zip(numbers[rows].tolist(), np.cumsum(counts) - counts, strict=True)
            for step, names in enumerate(nulls.get(number, ()))
        )
        ops = pc.index_in(pc.struct_field(chosen, "type"), value_set=pa.array([*_OPS]))
        letters = pa.array([*_OPS.values()]).take(ops).take(pa.array(np.repeat(np.arange(len(rows)), counts)))
        return images(spread, letters, rows_before(after, before, emptied), after)

    return isolate(np.arange(len(numbers)), changes, lambda rows, error: outcome.reject_rows(numbers[rows], error))
