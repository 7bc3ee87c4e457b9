"""The pages of servers: from the registry, from the folder of a server's state, and from what the watcher saw of its tables."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from fastapi import HTTPException

from hoodie_airflow.pages.access import Rights
from hoodie_airflow.pages.snapshots import fleet_known
from hudi_services.entry.server import DatabaseServer
from hudi_services.entry.source import server_of
from hudi_services.operations.pages.server import ServerPage, StateFolder, server_links, server_page
from hudi_services.operations.pages.state import State
from hudi_services.registry.database_tables import cut_store, loaded_tables
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.sync_progress import ProgressStore
from hudi_services.sources.databases.table_verifications import VerificationStore

_log = logging.getLogger(__name__)


def page_of_server(name: str, reading: Reading, rights: Rights) -> ServerPage:
    """Return the page. Raises HTTPException: a server of which the user sees no table and no DAG is as one that is not there."""
    registry = reading.registry
    visible_tables = [table for table in registry.tables if server_of(table.source) == name and rights.sees(table)]
    if name not in {link.name for link in server_links(registry, visible_tables, rights.dags)}:
        raise HTTPException(
            404, f"The registry has no server {name!r}, or you may read no DAG of it and of its tables."
        )
    fleet_state = fleet_known(registry, rights.dags)
    names = {table.name for table in visible_tables}
    return server_page(name, registry, names, rights.dags, _folder(name, reading), fleet_state, datetime.now(UTC))


def _folder(name: str, reading: Reading) -> StateFolder:
    server = reading.registry.servers[name]
    if not isinstance(server, DatabaseServer):
        return StateFolder()
    if server.state is None:
        reason = "The registry names no folder for the state of this server"
        return StateFolder(trouble=State("note", reason, "Without `state: FOLDER` nothing is known of its runs."))
    try:
        cuts = cut_store(name, reading)
        verified = VerificationStore(cuts.storage, name).latest().tables
        progress = ProgressStore(cuts.storage, name).latest()
        return StateFolder(cuts.latest(), progress, loaded_tables(name, reading), verified=verified)
    except Exception as error:  # noqa: BLE001 - those of storages and of the client of a bucket
        _log.exception("the state of the server %s cannot be read", name)
        reason = f"{type(error).__name__}: {error}"
        command = f"hudi-services cdc status {name}"
        title = "Airflow's API server cannot read the server's state"
        return StateFolder(trouble=State("warning", title, reason, command))
