"""Has the log of a server all changes of its tables?"""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.credentials import credentials
from hudi_services.sources.cdc.mysql.facts import ServerFacts, quoted
from hudi_services.sources.cdc.mysql.preflight import server_requirements
from hudi_services.sources.cdc.mysql.table_source import TableSource


def check_server(name: str, server: DatabaseServer, environ: Mapping[str, str], facts: ServerFacts) -> None:
    """Raise ConfigError where the log of the server lacks changes, or the user's rights do not suffice."""
    user = credentials(server.connection, environ).user
    missing = [
        f"{requirement.name}: {requirement.found}"
        for requirement in server_requirements(server, user, facts)
        if requirement.state == "missing"
    ]
    if missing:
        raise _not_followed(f"The server {name}", missing, name)


def check_table(facts: ServerFacts, table: TableSource) -> None:
    """Raise ConfigError where the log lacks changes of the table or mixes them with old rows.

    Raises SourceError for a table that is not there, unless its policies say what happens then.
    """
    fact = next((fact for fact in facts.tables if fact.full_name == table.full_name), None)
    if fact is None and table.statements.expect_absence:
        return
    if fact is None:
        raise SourceError(
            f"The server {table.server} has no table {table.full_name}, or the user does not see it",
            fix=f"correct the name, or GRANT SELECT ON {quoted(table.database)}.{quoted(table.name)}",
        )
    missing = []
    if not fact.readable:
        missing.append("the user may not read it")
    if fact.versioned:
        missing.append("the table keeps old versions of its rows (WITH SYSTEM VERSIONING)")
    if fact.cascades and not table.ignore_cascades:
        missing.append("foreign keys change its rows, which no log has: --ignore-cascades loads it all the same")
    if missing:
        raise _not_followed(f"The table {table.source}", missing, table.server)


def _not_followed(subject: str, missing: list[str], server: str) -> ConfigError:
    return ConfigError(
        f"{subject} cannot be followed",
        found="; ".join(missing),
        fix=f"`hudi-services cdc check {server}` lists the statements that fix it",
    )
