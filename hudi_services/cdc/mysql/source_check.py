"""Has the log of a server all changes of a table?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError
from hudi_services.cdc.credentials import credentials
from hudi_services.cdc.mysql.facts import server_facts
from hudi_services.cdc.mysql.preflight import requirements
from hudi_services.cdc.mysql.table_source import TableSource
from hudi_services.entry.server import DatabaseServer

if TYPE_CHECKING:
    from pymysql.connections import Connection


def check_source(
    control: Connection[Any], server: DatabaseServer, environ: Mapping[str, str], table: TableSource
) -> None:
    """Raise ConfigError where the log lacks changes of the table, or mixes them with old rows."""
    server = server.model_copy(update={"databases": (table.database,)})
    facts = server_facts(control, (table.database,), SystemClock(), table.name)
    user = credentials(server.connection, environ).user
    checked = list(requirements(server, user, facts))
    missing = [f"{requirement.name}: {requirement.found}" for requirement in checked if requirement.state == "missing"]
    for fact in facts.tables:
        if fact.versioned:
            missing.append("the table keeps old versions of its rows (WITH SYSTEM VERSIONING)")
        if fact.cascades and not table.ignore_cascades:
            missing.append("foreign keys change its rows, which no log has: --ignore-cascades loads it all the same")
    if missing:
        raise ConfigError(
            f"The table {table.source} cannot be followed",
            found="; ".join(missing),
            fix=f"`hudi-services cdc check {table.server}` lists the statements that fix it",
        )
