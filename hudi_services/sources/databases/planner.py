"""The plan of a server as it is now: its tables are listed, its rules are those of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.catalog import catalog_databases, catalog_tables
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.log_retention import log_retention
from hudi_services.sources.databases.plan import DatabasePlan, plan
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan


@dataclass(frozen=True)
class CurrentPlan:
    """The plan of a server at this moment by `rules`.

    `base` is the plan that it was compared with, `stored` the one that is in the folder of states. `retention` is for how many
    seconds the server keeps its log (0: for ever).
    """

    rules: tuple[DatabaseRule, ...]
    plan: DatabasePlan
    base: StoredPlan
    stored: StoredPlan
    retention: float

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
            seen = self.server.databases or catalog_databases(connection)
            databases = [name for name in seen if any(rule.takes_database(name) for rule in rules)]
            tables = catalog_tables(connection, databases)
            retention = log_retention(connection)
        base, result = stored, plan(rules, tables, stored.paths, self.own)
        if accept:
            base = stored.accepting(result)
            result = plan(rules, tables, base.paths, self.own)
        return CurrentPlan(tuple(rules), result, base, stored, retention)
