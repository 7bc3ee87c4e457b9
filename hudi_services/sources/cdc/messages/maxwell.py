"""Messages of Maxwell's daemon, `maxwell-json`: the row after, and the old values of the columns that an update changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.changes import DELETE, Changes, Outcome, without_images
from hudi_services.sources.cdc.messages.connect_rows import Row
from hudi_services.sources.cdc.messages.contract import Decoded, Statement
from hudi_services.sources.cdc.messages.isolation import isolate, some
from hudi_services.sources.cdc.messages.old_rows import null_members, rows_before
from hudi_services.sources.cdc.messages.open_rows import OpenRows
from hudi_services.sources.cdc.messages.plain_columns import ValueFormat
from hudi_services.sources.cdc.messages.tables import Heads, wanted_heads

_OPS = {"insert": "i", "bootstrap-insert": "i", "update": "u", "delete": "d"}
_CONTROL = ("bootstrap-start", "bootstrap-complete", "heartbeat")
_STATEMENTS = tuple(f"{noun}-{verb}" for noun in ("database", "table") for verb in ("create", "alter", "drop"))
_HEAD = pa.struct([(name, pa.string()) for name in ("type", "database", "table", "sql")])


@dataclass(frozen=True)
class MaxwellJson:
    """The format `maxwell-json`.

    `table` names the table, as `shop.orders` or with a pattern, as `shop_*.orders`. `zone` is the time zone in which Maxwell
    writes TIMESTAMP, such as UTC: the messages do not say it.
    """

    table: str | None = None
    zone: str | None = None

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold."""
        outcome = Outcome()
        heads = wanted_heads(messages, _HEAD, self.table, outcome)
        if heads is not None:
            self._rows(_without_others(heads, outcome), known, outcome)
        return outcome.decoded()

    def _rows(self, heads: Heads, known: pa.Schema | None, outcome: Outcome) -> None:
        if not len(heads.numbers):
            return
        writing = ValueFormat(decimals="text", zone=self.zone, zeros=True)
        reader = OpenRows(_frame, ("data", "old"), known, writing, outcome.errors, lenient=True)
        row, objects = reader.read(heads.texts, heads.numbers)
        updates = heads.filter(pc.equal(heads.column("type"), "update").to_numpy(zero_copy_only=False))
        nulls = null_members(updates.texts, updates.numbers)
        for numbers, structs in objects:
            for _, changes in _good_changes(numbers, structs, row, nulls, outcome):
                outcome.changes.append(without_images(changes, outcome))


def _frame(row: pa.StructType) -> pa.StructType:
    return pa.struct([("type", pa.string()), ("data", row), ("old", row)])


def _without_others(heads: Heads, outcome: Outcome) -> Heads:
    """The messages of rows. Statements and control events are noted."""
    kinds = heads.column("type")
    rows = pc.is_in(kinds, value_set=pa.array([*_OPS])).to_numpy(zero_copy_only=False)
    others = heads.filter(~rows)
    for number, head in zip(others.numbers, others.values.to_pylist(), strict=True):
        kind = head["type"]
        if kind in _CONTROL:
            outcome.ignored["control event"] += 1
        elif kind in _STATEMENTS:
            outcome.statements.append(Statement(int(number), head["sql"] or kind))
        else:
            reason = "no change of Maxwell: it has no type" if kind is None else f"an event of the type {kind!r:.40}"
            outcome.reject(np.array([number]), reason)
    return heads.filter(rows)


def _good_changes(
    numbers: np.ndarray, structs: pa.StructArray, row: Row, nulls: dict[int, list[frozenset[str]]], outcome: Outcome
) -> Iterator[tuple[np.ndarray, Changes]]:
    def changes(rows: np.ndarray) -> Changes:
        chosen = some(structs, rows)
        ops = pc.index_in(pc.struct_field(chosen, "type"), value_set=pa.array([*_OPS]))
        data, old = (row.values(pc.struct_field(chosen, name)) for name in ("data", "old"))
        emptied = ((place, names) for place, row in enumerate(rows) for names in nulls.get(int(numbers[row]), ()))
        return images(numbers[rows], pa.array([*_OPS.values()]).take(ops), rows_before(data, old, emptied), data)

    return isolate(np.arange(len(numbers)), changes, lambda rows, error: outcome.reject_rows(numbers[rows], error))


def images(numbers: np.ndarray, ops: pa.Array, before: pa.StructArray, data: pa.StructArray) -> Changes:
    """Return changes whose messages have one whole row: that before a delete, that after all else."""
    nothing = pa.scalar(None, data.type)
    deletes = pc.equal(ops, DELETE)
    return Changes(
        numbers,
        ops,
        pc.if_else(pc.equal(ops, "i"), nothing, pc.if_else(deletes, data, before)),
        pc.if_else(deletes, nothing, data),
    )
