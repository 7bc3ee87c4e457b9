"""The table of the server that a row of a shared key belongs to: the one that inserted it last and did not delete it since.

Tables of one Hudi table may share its keys (`global_keys`): a row that moves is copied to its new table, and deleted from the old
one later. So a change counts only if its table has the row, which the stored row and the other changes of a commit say. A table
may be ahead of another one: then the log says again when rows came to it (`Arrivals`). Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.internal_columns import DELETION, ORDER
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN

_SOURCE = (DATABASE_COLUMN, TABLE_COLUMN)
_NUMBER = f"{ORDER}0"
_INSERTED = "inserted"


@dataclass(frozen=True)
class Arrivals:
    """Changes of tables that have them: the log was read again for tables that are behind.

    They say when rows came to the tables that are ahead. For those that are `unseen` (databases and tables) they do not.
    """

    parts: Callable[[], Iterator[pa.Table]] = lambda: iter(())
    unseen: frozenset[tuple[str, str]] = frozenset()


NO_ARRIVALS = Arrivals()


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
    arrived: pa.Table | None = None
    """The last number at which a row came to a table that is ahead (`identity`, owner, `arrived`). None: there are none."""
    unseen: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    @staticmethod
    def of(changes: pa.Table, identity: Sequence[str], *more: str) -> Holders:
        """Group changes (`traces`). `more` are columns that are the same for all changes of a key."""
        number, deletion = changes[_NUMBER], changes[DELETION]
        none = pa.scalar(-1, pa.int64())
        puts = pc.if_else(deletion, none, number)
        deletes = pc.if_else(deletion, number, none)
        inserted = pc.if_else(_came(changes), puts, none)
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

    def beside(self, changes: Sequence[pa.Table], unseen: frozenset[tuple[str, str]]) -> Holders:
        """Return them beside changes that tables have which are ahead (`traces`)."""
        kept = [rows.filter(pc.and_(_came(rows), pc.invert(rows[DELETION]))) for rows in changes]
        if not any(rows.num_rows for rows in kept):
            return replace(self, unseen=unseen)
        rows = pa.concat_tables(rows.select([*self.identity, *_SOURCE, _NUMBER]) for rows in kept)
        rows = rows.rename_columns([*self.identity, *_OWNER, "arrived"])
        last = rows.group_by([*self.identity, *_OWNER]).aggregate([("arrived", "max")])
        return replace(self, arrived=last.rename_columns(rows.schema.names), unseen=unseen)

    @property
    def inserted(self) -> pa.Table:
        """Keys that a table inserted which has their rows."""
        return self._first.filter(pc.greater_equal(pc.field("since"), 0))

    @property
    def undecided(self) -> pa.Table:
        """Keys that no table inserted, or one that is ahead may have got later: whose row it is depends on the stored one."""
        if self.unseen:
            return self.table
        sure = self.inserted.select([*self.identity, "since"])
        if self.arrived is not None:
            came = self.arrived.group_by(list(self.identity)).aggregate([("arrived", "max")])
            sure = sure.join(came, list(self.identity), join_type="left outer")
            sure = sure.filter(pc.greater(sure["since"], pc.fill_null(sure["arrived_max"], -1)))
        return self.table.join(sure.select(self.identity), list(self.identity), join_type="left anti")

    @property
    def _first(self) -> pa.Table:
        """The table that inserted a key last, or else one that has it, or else one that deleted it, for each key."""
        ordered = self.table.sort_by([("has", "descending"), ("since", "descending"), ("put", "descending")])
        names = [name for name in ordered.schema.names if name not in self.identity]
        firsts = ordered.group_by(list(self.identity), use_threads=False).aggregate([(name, "first") for name in names])
        return firsts.rename_columns([name.removesuffix("_first") for name in firsts.schema.names])

    def verdict(self, owners: pa.Table) -> Verdict:
        """Return which changes count. `owners` are the stored rows of undecided keys: `identity` and their sources.

        A row of a table that is not its owner is left alone, unless the owner deletes its own. A table that inserts a row is its
        owner, unless the stored row came to another one later.
        """
        joined = self._with_owners(owners)
        is_sure = pc.greater(joined["since"], joined["arrived"])
        sure, rest = joined.filter(is_sure), joined.filter(pc.invert(is_sure))
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

    def unclear(self, owners: pa.Table) -> pa.Table:
        """Return the inserted keys of which it is not known if their stored rows came later: the owners are unseen."""
        joined = self._with_owners(owners).filter(pc.field("since") >= 0)
        joined = joined.filter(pc.greater(joined["since"], joined["arrived"]))
        unseen = pa.table(dict(zip(_OWNER, zip(*sorted(self.unseen), strict=True), strict=True)))
        doubtful = joined.join(unseen, list(_OWNER), join_type="inner")
        is_own = pc.and_(
            *(pc.equal(doubtful[owner], doubtful[source]) for owner, source in zip(_OWNER, _SOURCE, strict=True))
        )
        return doubtful.filter(pc.invert(is_own))

    def _with_owners(self, owners: pa.Table) -> pa.Table:
        """The first tables with the owners of the stored rows, and the number at which these came (-1: it was before)."""
        stored = pa.table({**{name: owners[name] for name in self.identity}, **_owner_columns(owners)})
        stored = stored.group_by([*self.identity, *_OWNER], use_threads=False).aggregate([])
        joined = self._first.join(stored, list(self.identity), join_type="left outer")
        if self.arrived is None:
            return joined.append_column("arrived", pa.chunked_array([pa.repeat(pa.scalar(-1), joined.num_rows)]))
        joined = joined.join(self.arrived, [*self.identity, *_OWNER], join_type="left outer")
        place = joined.schema.get_field_index("arrived")
        return joined.set_column(place, "arrived", pc.fill_null(joined["arrived"], -1))

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


def _came(changes: pa.Table) -> pa.ChunkedArray:
    """True for changes (`traces`) with which a row came to its table. An update that leaves one key inserts that of another."""
    number = changes[_NUMBER]
    moved = pc.is_in(number, value_set=number.filter(changes[DELETION]).combine_chunks())
    return pc.or_(changes[_INSERTED], moved)


def _owner_columns(owners: pa.Table) -> dict[str, pa.ChunkedArray]:
    return {name: owners[source] for name, source in zip(_OWNER, _SOURCE, strict=True)}


def _joined(parts: Sequence[pa.ChunkedArray]) -> pa.Array:
    chunks = [chunk for part in parts for chunk in part.chunks]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.int64())
