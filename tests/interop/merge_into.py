"""A history of SQL MERGE INTO with partial updates, as Hudi 1.2.0 carries it out on merge-on-read tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tests.interop.peer import HudiPeer
from tests.interop.recording import RecordedPeer

TYPES = {"id": "string", "name": "string", "price": "double", "ts": "bigint"}
EVENT, COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
Entries = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class MergeTable:
    """A table that Hudi creates and updates by SQL."""

    hudi: HudiPeer | RecordedPeer
    name: str
    path: str
    version: str
    mode: str
    blocks: str  # avro or parquet

    def create(self) -> None:
        properties = {
            "type": "mor",
            "primaryKey": "id",
            "orderingFields": "ts",
            "hoodie.record.merge.mode": self.mode,
            "hoodie.write.record.merge.mode": self.mode,
            "hoodie.write.table.version": self.version,
            "hoodie.write.auto.upgrade": "false",
            "hoodie.metadata.enable": "false",
            "hoodie.compact.inline": "false",
            "hoodie.logfile.data.block.format": self.blocks,
        }
        self._set_options()
        columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
        quoted = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
        self.hudi.sql(
            f"create table {self.name} ({columns}) using hudi tblproperties ({quoted}) location '{self.path}'"
        )

    def enter(self, hudi: HudiPeer) -> MergeTable:
        """The table, which is there, under another name of a session: with DEEP=1 it is the one that made the table."""
        entered = replace(self, hudi=hudi, name=f"{self.name}_entered")
        entered._set_options()
        hudi.sql(f"create table {entered.name} using hudi location '{self.path}'")
        return entered

    def _set_options(self) -> None:
        for key in ("hoodie.metadata.enable=false", "hoodie.spark.sql.merge.into.partial.updates=true"):
            self.hudi.sql(f"set {key}")

    def merge(self, entries: Entries, clauses: str) -> None:
        """MERGE INTO with rows of the same columns each."""
        rows = (", ".join(f"{_literal(name, v)} as {name}" for name, v in row.items()) for row in _rows(entries))
        source = " union all ".join(f"select {row}" for row in rows)
        self.hudi.sql(f"merge into {self.name} as t using ({source}) as s on t.id = s.id {clauses}")

    def update(self, entries: Entries, *, insert: bool = False) -> None:
        """Set the columns that the rows have; with `insert` of keys that are not there too."""
        columns = next(iter(entries.values()))
        clauses = "when matched then update set " + ", ".join(f"{name} = s.{name}" for name in columns)
        self.merge(entries, clauses + (" when not matched then insert *" if insert else ""))

    def history(self) -> Iterator[str]:
        """Changes the table step by step; says what each was."""
        self.hudi.sql(
            f"insert into {self.name} select 'k' || id, 'x', cast(1 as double), cast(10 as bigint) from range(1, 10)"
        )
        yield "rows"
        self.update({"k1": _named("m", 20), "k2": _named(None, 20), "k3": _named("m", 5), "k4": _named("m", 20)})
        yield "names, a null and a late one among them"
        self.update({"k1": _priced(2.0, 30), "k2": _priced(2.0, 15), "k3": _priced(None, 20), "k5": _priced(2.0, 5)})
        yield "prices, late ones against names of logs and against stored rows"
        self.hudi.sql(f"update {self.name} set price = 7 where id in ('k4', 'k6')")
        yield "whole rows"
        self.update({"k4": _named("n", 20), "k6": _named("n", 15), "k2": _named("n", 12)})
        yield "names over whole rows"
        if self.mode == EVENT:
            # In COMMIT_TIME_ORDERING 1.2.0 cannot read a row behind a deletion in logs with rows of some columns.
            self.merge({"k7": {"ts": 20}, "k8": {"ts": 20}}, "when matched then delete")
            self.hudi.sql(f"delete from {self.name} where id = 'k9'")
            late = {"k7": 15, "k8": 30, "k9": 40}
            self.update({key: {"name": "back", "price": 9.0, "ts": ts} for key, ts in late.items()}, insert=True)
            self.update({"k8": _priced(8.0, 31), "k9": _priced(8.0, 41)})
            yield "rows behind deletions"
        self.merge({"k1": {"ts": 50}, "k5": {"ts": 50}}, "when matched then delete")
        yield "deletions"


def _named(name: str | None, ts: int) -> dict[str, object]:
    return {"name": name, "ts": ts}


def _priced(price: float | None, ts: int) -> dict[str, object]:
    return {"price": price, "ts": ts}


def _rows(entries: Entries) -> Iterator[dict[str, object]]:
    for key, row in entries.items():
        yield {"id": key, **row}


def _literal(name: str, value: object) -> str:
    text = "null" if value is None else f"'{value}'"
    return f"cast({text} as {TYPES[name]})"
