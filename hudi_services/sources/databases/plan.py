"""The plan of a server's tables: which go where by its rules, and which may not. Pure: tables in, routes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from hoodie.config.keys.table import RECORD_KEY_FIELDS
from hoodie.display import some
from hoodie.model.place import identity
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.mysql.binlog.decoding import Choices
from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN
from hudi_services.sources.databases.column_checks import JoinedColumns

Kind = Literal["unfit", "clash", "moved", "left"]
"""Reasons for which a table is not loaded: it cannot be, its target is that of another table, it had another target before, no
rule takes it any more."""


@dataclass(frozen=True)
class Route:
    """Tables of the server, `sources`, whose rows go into the Hudi table at `base_path`."""

    rule: DatabaseRule
    sources: tuple[CatalogTable, ...]
    base_path: str

    @property
    def name(self) -> str:
        """The name of the Hudi table."""
        return self.base_path.rstrip("/").rpartition("/")[2]

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the record key."""
        origin = () if not self.rule.merge or self.rule.global_keys else (DATABASE_COLUMN, TABLE_COLUMN)
        declared = self.rule.hoodie.get(RECORD_KEY_FIELDS.name)
        return tuple(dict.fromkeys([*origin, *(declared.split(",") if declared else self.sources[0].key)]))

    @property
    def write_options(self) -> dict[str, str]:
        """Options of the Hudi table and of its writes. A key of the rule has the columns that say where a row is from, too."""
        key = {RECORD_KEY_FIELDS.name: ",".join(self.key)} if self.rule.names_key else {}
        return {"hoodie.table.name": self.name, **self.rule.write_options, **key}

    @property
    def choices(self) -> Choices:
        """The way in which values are read."""
        return JoinedColumns(self.rule, self.sources).choices

    @property
    def schema(self) -> pa.Schema:
        """The columns of the Hudi table."""
        return JoinedColumns(self.rule, self.sources).schema


@dataclass(frozen=True)
class Refusal:
    """A table that is not loaded into `base_path`, the reason and what helps."""

    source: str
    base_path: str
    kind: Kind
    reason: str
    fix: str


@dataclass(frozen=True)
class DatabasePlan:
    """Routes in the order of their sources, tables that are refused, and rules that take no table.

    `added` are sources that the stored plan does not have.
    """

    routes: tuple[Route, ...]
    refusals: tuple[Refusal, ...]
    unmatched: tuple[DatabaseRule, ...]
    added: frozenset[str]

    @property
    def paths(self) -> dict[str, str]:
        """Base paths by the names of their sources."""
        return {source.full_name: route.base_path for route in self.routes for source in route.sources}

    @property
    def snapshots(self) -> tuple[CatalogTable, ...]:
        """The tables whose rows have to be read."""
        return tuple(source for route in self.routes for source in route.sources if source.full_name in self.added)


def plan(
    rules: Sequence[DatabaseRule],
    tables: Iterable[CatalogTable],
    stored: Mapping[str, str],
    own: Mapping[str, str],
) -> DatabasePlan:
    """Return the plan of `tables`.

    `stored` are the paths by sources of the plan that runs: such a table stays where it is, or is refused by name. `own` are the
    paths of tables with an entry of their own, by their sources or names. No rule takes these sources.
    """
    all_tables = tuple(tables)
    chosen = [table for table in all_tables if table.full_name not in own and _taking(table, rules, None)]
    present = {table.full_name: table for table in chosen}
    names = Counter(table.full_name for table in chosen)
    absent = {
        name: _absent(name, rules, path) for name, path in stored.items() if name not in present and name not in own
    }
    candidates: list[_Candidate] = []
    refusals: list[Refusal] = []
    matched: set[int] = set()
    for table in sorted([*present.values(), *absent.values()], key=lambda table: table.full_name):
        before = stored.get(table.full_name)
        taking = _taking(table, rules, before)
        matched.update(map(id, taking))
        decided = _decided(table, taking, before, is_alone=names[table.full_name] < 2)
        if isinstance(decided, Refusal):
            refusals.append(decided)
        elif decided is not None:
            candidates.append(decided)
    problems = [*_mistyped(candidates), *_misfits(candidates), *_clashes(candidates, own.values())]
    clashes = {refusal.source: refusal for refusal in reversed(problems)}
    accepted = [candidate for candidate in candidates if candidate.name not in clashes]
    return DatabasePlan(
        tuple(
            Route(group[0].rule, tuple(candidate.table for candidate in group), group[0].path)
            for group in _grouped(accepted, lambda candidate: candidate.place)
        ),
        (*refusals, *clashes.values()),
        tuple(rule for rule in rules if id(rule) not in matched and not _left_over(rule, all_tables)),
        frozenset(candidate.name for candidate in accepted if not candidate.is_stored),
    )


def _left_over(rule: DatabaseRule, tables: Iterable[CatalogTable]) -> bool:
    """True if a rule names tables, and its `sources` leave them to other rules."""
    return rule.sources is not None and any(rule.names(table.database, table.name) for table in tables)


def _absent(name: str, rules: Sequence[DatabaseRule], path: str) -> CatalogTable:
    """A table that the server does not have now. Its load decides what that means.

    A dot may be a part of the name of the database, or of the table: the rule that has the table at `path` says which.
    """
    dots = [place for place, letter in enumerate(name) if letter == "."]
    tables = [CatalogTable(name[:dot], name[dot + 1 :]) for dot in dots]
    place = identity(path)
    return next(
        (
            table
            for table in tables
            for rule in _taking(table, rules, path)
            if identity(rule.path_of(table.database, table.name)) == place
        ),
        tables[0],
    )


@dataclass(frozen=True)
class _Candidate:
    """A table that one rule takes, and the identity of its path. `is_stored`: the plan that runs has it there."""

    rule: DatabaseRule
    table: CatalogTable
    path: str
    place: str
    is_stored: bool

    @property
    def name(self) -> str:
        return self.table.full_name


def _taking(table: CatalogTable, rules: Sequence[DatabaseRule], before: str | None) -> list[DatabaseRule]:
    """The rules that take a table. One that leaves it where it is goes before the others."""
    taking = [rule for rule in rules if rule.takes(table.database, table.name)]
    place = identity(before) if before is not None else ""
    staying = [rule for rule in taking if identity(rule.path_of(table.database, table.name)) == place]
    return staying if len(staying) == 1 else taking


def _decided(
    table: CatalogTable, rules: Sequence[DatabaseRule], before: str | None, *, is_alone: bool
) -> _Candidate | Refusal | None:
    """Check what concerns one table alone. `rules` are those that take it, `before` is its path in the plan that runs.

    `is_alone`: no other table has its full name.
    """
    name = table.full_name
    if not rules:
        return _orphan(name, before) if before is not None else None
    path = rules[0].path_of(table.database, table.name)
    if before is None and _leads_elsewhere(table, rules[0]):
        reason = "the name of the table or of its database leads to another folder in the path"
        fix = "exclude it, and load it by a rule whose base_path is without this name"
        return Refusal(name, rules[0].base_path, "unfit", reason, fix)
    place = identity(path)
    if len(rules) > 1:
        reason = f"two rules take it: {rules[0].shown}, and {rules[1].shown}"
        return Refusal(
            name, path, "clash", reason, "write `excluding` in one of them, so that one rule takes the table"
        )
    if not is_alone:
        reason = "two tables have this name, since a dot is a part of the name of a database or a table"
        return Refusal(name, path, "clash", reason, "exclude one of them, or rename it at the server")
    if before is not None and identity(before) != place:
        fix = "write the path that it had, or accept the new one: `hudi-services cdc plan SERVER --accept`"
        return Refusal(name, path, "moved", f"it was loaded into {before} until now", fix)
    if before is None and table.unreadable:
        fix = "change the type of the column, or write the table into `excluding`"
        return Refusal(name, path, "unfit", f"it cannot be read: {table.unreadable}", fix)
    if before is None and not table.key and not rules[0].names_key:
        fix = f"give it a key at the server, or a rule of its own with `hoodie: {{{RECORD_KEY_FIELDS.name}: …}}`"
        return Refusal(name, path, "unfit", "it has neither a primary key nor a unique index without nulls", fix)
    return _Candidate(rules[0], table, path, place, before is not None)


def _leads_elsewhere(table: CatalogTable, rule: DatabaseRule) -> bool:
    """True if the path of a table is not the one folder that the rule says: names of a server may be `..` and `a/b`."""
    declared_parts, folders = rule.base_path.split("/"), rule.path_of(table.database, table.name).split("/")
    named = [folder for part, folder in zip(declared_parts, folders, strict=False) if part != folder]
    return len(declared_parts) != len(folders) or any(folder in ("", ".", "..") for folder in named)


def _orphan(name: str, path: str) -> Refusal:
    fix = "write a rule that takes it, or accept that it ends: `hudi-services cdc plan SERVER --accept`"
    return Refusal(name, path, "left", "it was loaded until now, and no rule takes it", fix)


def _mistyped(candidates: Sequence[_Candidate]) -> Iterator[Refusal]:
    """Refuse new tables of a rule with a column that none of its tables has: its name has a mistake."""
    for group in _grouped(candidates, lambda candidate: id(candidate.rule)):
        rule = group[0].rule
        known = {column.name.lower() for candidate in group for column in candidate.table.columns}
        unknown = sorted(name for name in (*rule.masks, *rule.as_text, *rule.columns) if name.lower() not in known)
        for candidate in group if unknown else ():
            if not candidate.is_stored:
                reason = f"no table of its rule has the column {unknown[0]!r} of `masks`, `as_text` or `columns`"
                fix = "correct the name in the rule"
                yield Refusal(candidate.name, candidate.path, "unfit", reason, fix)


def _misfits(candidates: Sequence[_Candidate]) -> Iterator[Refusal]:
    """Refuse new tables whose columns do not go together with those of the others, or do not fit the expressions of the rule."""
    for group in _grouped(candidates, lambda candidate: (candidate.place, id(candidate.rule), _alone(candidate))):
        running = frozenset(candidate.name for candidate in group if candidate.is_stored)
        rule = group[0].rule
        if len(running) < len(group) and (
            len(group) > 1 or rule.masks or rule.add_columns or rule.where or rule.columns
        ):
            tables = [candidate.table for candidate in group if candidate.table.columns]
            for misfit in JoinedColumns(rule, tables).misfits(running):
                path = next(candidate.path for candidate in group if candidate.table is misfit.table)
                yield Refusal(misfit.table.full_name, path, "unfit", misfit.reason, misfit.fix)


def _alone(candidate: _Candidate) -> str:
    """A name that candidates of one Hudi table share."""
    return "" if candidate.rule.merge else candidate.name


def _clashes(candidates: Sequence[_Candidate], own: Iterable[str]) -> Iterator[Refusal]:
    """Refuse tables whose targets are in the way of each other. One that runs stays, new ones are refused."""
    for group in _grouped(candidates, lambda candidate: candidate.place):
        if len(group) > 1 and not (group[0].rule.merge and all(candidate.rule is group[0].rule for candidate in group)):
            fix = "write {database} or {table} in the base_path, or `merge: true` if their rows belong into one table"
            yield from _refused(group, "{} would go into the same table", fix)
    for group in _grouped(candidates, lambda candidate: candidate.place.lower()):
        if len({candidate.place for candidate in group}) > 1:
            fix = "exclude one of them, and give it a rule with another base_path"
            yield from _refused(group, "the path of {} differs by capitals only, which SQL takes for the same", fix)
    yield from _nested(candidates, {identity(path): path for path in own})


def _refused(group: Sequence[_Candidate], reason: str, fix: str) -> Iterator[Refusal]:
    names = [candidate.name for candidate in group]
    stays = [candidate for candidate in group if candidate.is_stored]
    for candidate in group:
        if [candidate] != stays:
            others = some([name for name in names if name != candidate.name])
            yield Refusal(candidate.name, candidate.path, "clash", reason.format(others), fix)


def _nested(candidates: Sequence[_Candidate], own: Mapping[str, str]) -> Iterator[Refusal]:
    """Refuse targets at, inside or around others: readers that list folders take files of one for those of the other."""
    paths = {**{candidate.place: candidate.path for candidate in candidates}, **own}
    near: dict[str, str] = {place: own[place] for place in own}
    for place in paths:
        for folder in _above(place):
            if folder in paths:
                near |= {place: paths[folder], folder: paths[place]}
    fix = "give the rule a base_path that is neither inside that folder nor around it"
    for candidate in candidates:
        if candidate.place in near and not candidate.is_stored:
            reason = f"another table has this folder, or one inside or around it: {near[candidate.place]}"
            yield Refusal(candidate.name, candidate.path, "clash", reason, fix)


def _above(place: str) -> Iterator[str]:
    """The folders around a place, the nearest first."""
    while "/" in place.rstrip("/"):
        place = place.rstrip("/").rpartition("/")[0]
        yield place or "/"


def _grouped(candidates: Iterable[_Candidate], key: Callable[[_Candidate], Hashable]) -> list[list[_Candidate]]:
    groups: dict[Hashable, list[_Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(key(candidate), []).append(candidate)
    return list(groups.values())
