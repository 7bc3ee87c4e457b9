"""The plan of a server as it is now: its tables are listed, its rules are those of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hoodie.clock import SystemClock
from hoodie.errors import HoodieError
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.credentials import credentials
from hudi_services.sources.cdc.mysql.catalog import catalog_databases, catalog_tables
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.log_retention import log_retention
from hudi_services.sources.cdc.mysql.preflight import server_requirements
from hudi_services.sources.cdc.mysql.source_check import check_table
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.requirement import Requirement
from hudi_services.sources.databases.key_collisions import shared_keys
from hudi_services.sources.databases.plan import DatabasePlan, plan
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan


@dataclass(frozen=True)
class CurrentPlan:
    """The plan of a server at this moment by `rules`.

    `base` is the plan that it was compared with, `stored` the one that is in the folder of states. `retention` is for how many
    seconds the server keeps its log (0: for ever). `preflight` are requirements that the server or a table does not meet, where
    they were asked for.
    """

    rules: tuple[DatabaseRule, ...]
    plan: DatabasePlan
    base: StoredPlan
    stored: StoredPlan
    retention: float
    preflight: tuple[Requirement, ...] = ()

    def store(self, store: PlanStore) -> None:
        """Store the plan if it is another one. Raises PendingInstantError where another process did so in between."""
        after = self.base.followed_by(self.rules, self.plan)
        if not after.is_like(self.stored):
            store.put(after)


@dataclass(frozen=True)
class Planner:
    """Plans of the server `name`. `own` are base paths of tables with an entry of their own, by their sources or names."""

    name: str
    server: DatabaseServer
    environ: Mapping[str, str]
    own: Mapping[str, str]

    def current(self, rules: Sequence[DatabaseRule], stored: StoredPlan, *, accept: bool = False) -> CurrentPlan:
        """Ask the server for its tables, and plan them.

        `accept` lets tables have other paths than before, or none. Raises SourceUnavailableError where the server does not
        answer.
        """
        with connected(self.name, self.server, self.environ) as connection:
            all_databases = self.server.databases or catalog_databases(connection)
            databases = [name for name in all_databases if any(rule.takes_database(name) for rule in rules)]
            tables = catalog_tables(connection, databases)
            retention = log_retention(connection)
        base, result = stored, plan(rules, tables, stored.paths, self.own)
        if accept:
            base = stored.accepting(result)
            result = plan(rules, tables, base.paths, self.own)
        return CurrentPlan(tuple(rules), result, base, stored, retention)

    def preflight(self, plan: DatabasePlan) -> tuple[Requirement, ...]:
        """Return the requirements that the server does not meet, or a table of the plan: a run would not follow these.

        Raises SourceUnavailableError where the server does not answer.
        """
        databases = tuple(dict.fromkeys(source.database for route in plan.routes for source in route.sources))
        if not databases:
            return ()
        with connected(self.name, self.server, self.environ) as connection:
            facts = server_facts(connection, databases, SystemClock())
            clashes = tuple(shared_keys(connection, plan))
        user = credentials(self.server.connection, self.environ).user
        unmet = [
            requirement for requirement in server_requirements(self.server, user, facts) if requirement.state != "ok"
        ]
        for route in plan.routes:
            for source in route.sources:
                rule = route.rule
                table = TableSource(
                    self.name, source.database, source.name, rule.ignore_cascades, statements=rule.statements
                )
                try:
                    check_table(facts, table)
                except HoodieError as error:
                    unmet.append(Requirement(source.full_name, "missing", error.found or error.what, error.fix or ""))
        return (*unmet, *clashes)
