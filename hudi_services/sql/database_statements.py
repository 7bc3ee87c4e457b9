"""Statements about whole databases: catalogs of the session, and loads of all tables of a server's database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pyarrow as pa
from pydantic import ValidationError

from hoodie.display import some
from hoodie.errors import SqlError
from hoodie.model.outcome import ServiceOutcome
from hoodie.sql.parse import Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.warehouse import Warehouse
from hoodie.storage import open_storage
from hudi_services.entry.database_rules import TABLE, DatabaseRule
from hudi_services.entry.mistake_text import mistake_message
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.mysql.server_sync import SyncResult
from hudi_services.sources.databases.plan_page import document, problems
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.planner import CurrentPlan
from hudi_services.sql.catalog_queries import CatalogQueries
from hudi_services.sql.current_catalog import CurrentCatalog
from hudi_services.sql.moment_queries import MomentQueries
from hudi_services.sql.registration import register_tables
from hudi_services.sql.replication import AddTables, CreateCatalog, Replicate, read_statement
from hudi_services.sql.route_statements import RouteStatements
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog, created_catalog, state_folder
from hudi_services.sql.server_routes import planned_sync

_SHOW = re.compile(r"\s*SHOW\s+CATALOGS\s*", re.IGNORECASE)
_DROP = re.compile(r"\s*DROP\s+CATALOG\s+(?P<exists>IF\s+EXISTS\s+)?`?(?P<name>\w+)`?\s*", re.IGNORECASE)
_OPTIONS = {
    "type": "type",
    "table.type": "type",
    "version": "version",
    "zero-dates": "zero_dates",
    "global-keys": "global_keys",
    "where": "where",
}
"""Options of WITH that are no options of writes, and the keys of a rule that they are."""


C = TypeVar("C", ServerCatalog, LakeCatalog)


@dataclass
class DatabaseStatements:
    """The catalogs that statements of one session created. `reading` is the registry, None without one."""

    reading: Reading | None
    environ: Mapping[str, str]
    catalogs: dict[str, ServerCatalog | LakeCatalog] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._queries = CatalogQueries(self.catalogs, self.environ)
        self._use = CurrentCatalog(self.catalogs, self._queries.databases)

    def run(self, session: Session, statement: Statement) -> Result | None:
        """Run a statement about catalogs or whole databases, None for another one. Raises HoodieError."""
        if statement.source_moment is not None:
            return MomentQueries(self.catalogs, self.reading).run(session, statement, statement.source_moment)
        if _SHOW.fullmatch(statement.text):
            return Result(pa.table({"catalog": pa.array(sorted(self.catalogs), pa.string())}))
        if (use := self._use.run(session, statement)) is not None:
            return use
        if (drop := _DROP.fullmatch(statement.text)) is not None:
            if drop["name"].lower() in self.catalogs:
                self._use.dropped(session, drop["name"].lower())
            catalog = self.catalogs.pop(drop["name"].lower(), None)
            if catalog is None and not drop["exists"]:
                raise self._unknown(drop["name"])
            if isinstance(catalog, LakeCatalog):
                catalog.catalog.close()
            return Result.of_message(f"catalog {drop['name']} is gone from the session, its tables stay")
        parsed = read_statement(statement.text)
        if isinstance(parsed, CreateCatalog):
            return self._create(parsed)
        if isinstance(parsed, Replicate):
            return self._replicate(parsed)
        if isinstance(parsed, AddTables):
            return self._add(parsed)
        if parsed is not None:
            return RouteStatements(self.catalogs, self.reading, self.environ).run(parsed)
        return self._queries.run(session, self._use.completed(session, statement)) if self.catalogs else None

    def _create(self, statement: CreateCatalog) -> Result:
        if statement.name in self.catalogs:
            if statement.exists:
                return Result.of_message(f"catalog {statement.name} is there")
            raise SqlError(
                f"There is a catalog {statement.name}", fix=f"DROP CATALOG {statement.name}, or say IF NOT EXISTS"
            )
        self.catalogs[statement.name] = created_catalog(statement, self.reading)
        return Result.of_message(f"catalog {statement.name} is there, for this session")

    def _replicate(self, statement: Replicate) -> Result:
        source, lake = (
            self._catalog(statement.source[0], ServerCatalog),
            self._catalog(statement.target[0], LakeCatalog),
        )
        sync = self._sync(source, lake)
        if not statement.explain and not isinstance(lake.catalog, Warehouse):
            lake.catalog.create_database(statement.target[1].lower())
        rule = _rule(statement, source, lake)
        rules_by_path = {other.base_path: other for other in sync.all_rules}
        if rule.base_path in rules_by_path and not statement.exists and not statement.explain:
            raise SqlError(
                f"{'.'.join(statement.target)} is loaded already",
                found=rules_by_path[rule.base_path].shown,
                fix="say IF NOT EXISTS",
            )
        sync = replace(sync, rules=tuple({**rules_by_path, rule.base_path: rule}.values()))
        return _run(sync, rule, lake, rule.tables, explain=statement.explain)

    def _add(self, statement: AddTables) -> Result:
        """Let a rule of an earlier statement also take tables of other names. The plan of the next runs keeps them."""
        lake, target = self._catalog(statement.target[0], LakeCatalog), ".".join(statement.target)
        path = _path(lake, statement.target)
        for source in self.catalogs.values():
            if not isinstance(source, ServerCatalog):
                continue
            sync = self._sync(source, lake)
            before = next((other for other in sync.all_rules if other.base_path == path), None)
            if before is None:
                continue
            if before in sync.rules:
                raise SqlError(
                    f"The tables of {target} are those of a rule in the registry",
                    found=before.shown,
                    fix="add the pattern to `tables` of this rule, below `databases:`",
                )
            tables = tuple(dict.fromkeys((*before.tables, *statement.tables)))
            rule = _checked({**before.model_dump(exclude_unset=True), "tables": tables})
            rules = tuple(rule if other == before else other for other in sync.all_rules)
            return _run(replace(sync, rules=rules), rule, lake, statement.tables, explain=statement.explain)
        raise SqlError(
            f"No statement of these catalogs loads {target}",
            fix=f"CREATE {'DATABASE' if len(statement.target) == 2 else 'TABLE'} {target} AS … loads it first",
        )

    def _sync(self, source: ServerCatalog, lake: LakeCatalog) -> PlannedSync:
        return planned_sync(source, state_folder(source, lake), self.reading, self.environ)

    def _catalog(self, name: str, kind: type[C]) -> C:
        catalog = self.catalogs.get(name.lower())
        if not isinstance(catalog, kind):
            raise self._unknown(name, "'type'='mysql'" if kind is ServerCatalog else "'type'='hudi'")
        return catalog

    def _unknown(self, name: str, kind: str = "'type'=…") -> SqlError:
        return SqlError(
            f"The session has no catalog {name} of this type",
            found=", ".join(sorted(self.catalogs)) or "no catalog",
            fix=f"CREATE CATALOG {name} WITH ({kind}, …)",
        )


def _run(sync: PlannedSync, rule: DatabaseRule, lake: LakeCatalog, tables: Sequence[str], *, explain: bool) -> Result:
    """Load and register the tables, or show the plan. Raises SqlError where the server has no table of these patterns."""
    current = sync.current(preflight=explain)
    assert current is not None, "there is a rule"
    if explain:
        return _plan(current)
    names = [source.name for route in current.plan.routes if route.rule == rule for source in route.sources]
    names += [refusal.source.partition(".")[2] for refusal in current.plan.refusals]
    if not any(re.fullmatch(pattern, name) for pattern in tables for name in names):
        raise SqlError(
            f"No table of the server {rule.server} is one of {' or '.join(tables)} in {rule.database}",
            found=f"{len(current.plan.paths):,} tables that other statements load",
            fix="correct the names: patterns are over whole names, with the server's capitals",
        )
    result = sync.run()
    return _counts(result, register_tables(lake, sync.plans.latest().paths.values()))


def _rule(statement: Replicate, source: ServerCatalog, lake: LakeCatalog) -> DatabaseRule:
    """The rule of a statement. A database is named as it is, a table and its database by regular expressions."""
    parts = 2 if statement.kind == "DATABASE" else 3
    if len(statement.target) != parts or len(statement.source) != parts:
        raise SqlError(
            f"CREATE {statement.kind} … AS {statement.kind} has a name with other than {parts} parts",
            found=f"{'.'.join(statement.target)} and {'.'.join(statement.source)}",
            fix="write the catalog before each name, such as lake.shop and shop.shop",
        )
    options = {**statement.options, **statement.hints}
    rule: dict[str, object] = {_OPTIONS[name]: value for name, value in options.items() if name in _OPTIONS}
    if "version" in rule:
        rule["version"] = int(str(rule["version"])) if str(rule["version"]).isdigit() else rule["version"]
    hoodie = {name: value for name, value in options.items() if name.startswith("hoodie.")}
    if unknown := sorted(set(options) - set(hoodie) - set(_OPTIONS)):
        raise SqlError(
            f"The option {unknown[0]!r} is not one of a load", fix=f"write options of Hudi, or {', '.join(_OPTIONS)}"
        )
    tables = statement.including or (".*",) if statement.kind == "DATABASE" else (statement.source[2],)
    return _checked(
        {
            **rule,
            "server": source.name,
            "database": re.escape(statement.source[1]) if statement.kind == "DATABASE" else statement.source[1],
            "tables": tables,
            "excluding": statement.excluding,
            "base_path": _path(lake, statement.target),
            "merge": statement.kind == "TABLE",
            "columns": statement.columns,
            "masks": dict(statement.masks),
            "add_columns": dict(statement.added),
            "hoodie": hoodie,
        }
    )


def _path(lake: LakeCatalog, target: Sequence[str]) -> str:
    """The base path of a database's tables, or of one table."""
    folder = open_storage(lake.catalog.place_of(target[1].lower())).base_path  # a metastore says file:/lake/db
    return f"{folder}/{target[2].lower() if len(target) == 3 else TABLE}"


def _checked(values: Mapping[str, object]) -> DatabaseRule:
    try:
        return DatabaseRule.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        raise SqlError(
            f"The statement has a mistake: {name} {mistake_message(problem, DatabaseRule)}", fix="correct it"
        ) from None


def _counts(result: SyncResult, unregistered: Sequence[ServiceOutcome]) -> Result:
    """Tables by their state, with the first reason of those that are behind. Then the statement counts as failed, as it does
    if tables are not registered."""
    rows = []
    for state in ("current", "failed", "parked", "refused", "skipped", "dropped"):
        tables = [(name, table) for name, table in sorted(result.tables.items()) if table.state == state]
        if tables:
            name, first = tables[0]
            sums = {
                kind: sum(getattr(table.load, kind) for _, table in tables) for kind in ("rows", "changes", "commits")
            }
            reason = f"{name}: {first.reason}. {first.fix}" if first.reason else None
            rows.append({"state": state, "tables": len(tables), **sums, "first_reason": reason})
    fields = {"state": pa.string(), **dict.fromkeys(("tables", "rows", "changes", "commits"), pa.int64())}
    table = pa.Table.from_pylist(rows, pa.schema({**fields, "first_reason": pa.string()}))
    behind = [ServiceOutcome("sync", str(row["first_reason"]), failed=True) for row in rows if row["first_reason"]]
    note = some([outcome.message for outcome in unregistered]) if unregistered else None
    return Result(table, services=(*behind, *unregistered), note=note)


def _plan(current: CurrentPlan) -> Result:
    """A row for each Hudi table, then one for each warning and each problem."""
    values = document(current)
    rows = [
        {
            "target": route["base_path"],
            "sources": ", ".join(route["sources"][:5]) + (" …" if len(route["sources"]) > 5 else ""),
            "state": route["state"],
            "key": ", ".join(route["key"]),
            "rows": route["rows"],
            "columns": ", ".join(f"{name} {kind}" for name, kind in route["columns"].items()),
        }
        for route in values["routes"]
    ]
    rows += [{"state": "warning", "columns": line} for line in values["warnings"]]
    rows += [{"state": "problem", "columns": line} for line in problems(current)]
    texts = {name: pa.string() for name in ("target", "sources", "state", "key")}
    return Result(pa.Table.from_pylist(rows, pa.schema({**texts, "rows": pa.int64(), "columns": pa.string()})))
