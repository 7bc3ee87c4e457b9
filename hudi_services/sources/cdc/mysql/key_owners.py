"""The table of the server that a row of a shared key belongs to: the one that inserted it last and did not delete it since.

Tables of one Hudi table may share its keys (`global_keys`): a row that moves is copied to its new table, and deleted from the old
one later. So a change counts only if its table has the row, which the stored row and the other changes of a commit say. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.internal_columns import DELETION, ORDER
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN

_SOURCE = (DATABASE_COLUMN, TABLE_COLUMN)
_NUMBER = f"{ORDER}0"
_INSERTED = "inserted"


@dataclass(frozen=True)
class Verdict:
    """Numbers of the changes that count: those whose row the Hudi table gets, and those whose row it loses."""

    rows: pa.Array
    deletes: pa.Array

    def counting(self, keyed: pa.Table) -> pa.Table:
        """Return those of the changes that count: one of each key at most."""
        deletes = keyed[DELETION]
        is_row = pc.and_(pc.invert(deletes), pc.is_in(keyed[_NUMBER], value_set=self.rows))
        is_delete = pc.and_(deletes, pc.is_in(keyed[_NUMBER], value_set=self.deletes))
        return keyed.filter(pc.or_(is_row, is_delete))


@dataclass(frozen=True)
class Holders:
    """The last change of each key in each table, by changes with the columns `identity` that say which row one is of.

    `table` has `put` and `delete`, the numbers of the last ones (-1: there is none), and `since`, the number at which a table
    that has the row inserted it (-1: before these changes).
    """

    identity: tuple[str, ...]
    table: pa.Table

    @staticmethod
    def of(changes: pa.Table, identity: Sequence[str], *more: str) -> Holders:
        """Group changes (`traces`). `more` are columns that are the same for all changes of a key."""
        number, deletion = changes[_NUMBER], changes[DELETION]
        none = pa.scalar(-1, pa.int64())
        puts = pc.if_else(deletion, none, number)
        deletes = pc.if_else(deletion, number, none)
        # An update that leaves one key inserts the row of another.
        moved = pc.is_in(number, value_set=number.filter(deletion).combine_chunks())
        inserted = pc.if_else(pc.or_(changes[_INSERTED], moved), puts, none)
        columns = {name: changes[name] for name in (*identity, *_SOURCE, *more)}
        grouped = (
            pa.table({**columns, "put": puts, "delete": deletes, "inserted": inserted})
            .group_by([*identity, *_SOURCE, *more])
            .aggregate([("put", "max"), ("delete", "max"), ("inserted", "max")])
        )
        put, delete, last = (grouped[f"{name}_max"] for name in ("put", "delete", "inserted"))
        since = pc.if_else(pc.and_(pc.greater(put, delete), pc.greater(last, delete)), last, none)
        kept = grouped.select([*identity, *_SOURCE, *more])
        for name, values in (("put", put), ("delete", delete), ("since", since)):
            kept = kept.append_column(name, values)
        return Holders(tuple(identity), kept.append_column("has", pc.greater(put, delete)))

    @property
    def undecided(self) -> pa.Table:
        """Keys that no table inserted: whose row it is depends on the stored one."""
        sure = self._first.filter(pc.greater_equal(pc.field("since"), 0)).select(self.identity)
        return self.table.join(sure, list(self.identity), join_type="left anti")

    @property
    def _first(self) -> pa.Table:
        """The table that inserted a key last, or else one that has it, or else one that deleted it, for each key."""
        ordered = self.table.sort_by([("has", "descending"), ("since", "descending"), ("put", "descending")])
        names = [name for name in ordered.schema.names if name not in self.identity]
        firsts = ordered.group_by(list(self.identity), use_threads=False).aggregate([(name, "first") for name in names])
        return firsts.rename_columns([name.removesuffix("_first") for name in firsts.schema.names])

    def verdict(self, owners: pa.Table) -> Verdict:
        """Return which changes count. `owners` are the stored rows of undecided keys: `identity` and their sources.

        A row of a table that is not its owner is left alone, unless the owner deletes its own.
        """
        first = self._first
        sure = first.filter(pc.greater_equal(pc.field("since"), 0))
        stored = pa.table({**{name: owners[name] for name in self.identity}, **_owner_columns(owners)})
        stored = stored.group_by([*self.identity, *_OWNER], use_threads=False).aggregate([])
        rest = first.filter(pc.less(pc.field("since"), 0)).join(stored, list(self.identity), join_type="left outer")
        unowned = rest.filter(pc.is_null(rest[_OWNER[0]]))
        owned = self._of_owners(rest.filter(pc.is_valid(rest[_OWNER[0]])))
        kept = owned.filter(pc.field("owner_has"))
        lost = owned.filter(pc.invert(pc.field("owner_has")))
        rows = [
            sure["put"],
            unowned.filter(pc.field("has"))["put"],
            kept["owner_put"],
            lost.filter(pc.field("has"))["put"],
        ]
        deletes = lost.filter(pc.invert(pc.field("has")))["owner_delete"]
        return Verdict(_joined(rows), _joined([deletes]))

    def _of_owners(self, rest: pa.Table) -> pa.Table:
        """Keys with the last change of their owner. Those that it did not change are left out."""
        own = self.table.select([*self.identity, *_SOURCE, "put", "delete", "has"])
        own = own.rename_columns([*self.identity, *_OWNER, "owner_put", "owner_delete", "owner_has"])
        return rest.join(own, [*self.identity, *_OWNER], join_type="inner")


_OWNER = ("owner_database", "owner_table")


def traces(changes: pa.Table, keyed: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return what `Holders.of` needs of changes: the columns `names` of `keyed`, which are the changes with their keys."""
    inserts = changes["number"].filter(pc.equal(changes["op"], "i"))
    inserted = pc.is_in(keyed[_NUMBER], value_set=inserts.combine_chunks())
    columns = dict.fromkeys([*names, *_SOURCE, _NUMBER, DELETION])
    return keyed.select(list(columns)).append_column(_INSERTED, inserted)


def _owner_columns(owners: pa.Table) -> dict[str, pa.ChunkedArray]:
    return {name: owners[source] for name, source in zip(_OWNER, _SOURCE, strict=True)}


def _joined(parts: Sequence[pa.ChunkedArray]) -> pa.Array:
    chunks = [chunk for part in parts for chunk in part.chunks]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.int64())
