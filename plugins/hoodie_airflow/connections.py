"""Connections of Airflow for code that does not know Airflow: as the environment variables by which Airflow reads them, too."""

from __future__ import annotations

import os

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from hudi_services.entry.server import AnyServer, KafkaServer
from hudi_services.entry.source import TopicSource
from hudi_services.entry.table import Table
from hudi_services.sources.cdc.credentials import variable_of


def connections_of_source(table: Table) -> dict[str, str]:
    """Return the connections that a table's source needs, by the names of their variables. They hold secrets."""
    return connections_of(table.source.declared) if isinstance(table.source, TopicSource) else {}


def connections_of(server: AnyServer) -> dict[str, str]:
    """Return the connections of a server, by the names of their variables. They hold secrets.

    One that is in the environment already is left out, and one that Airflow does not have, which the run then names.
    """
    names = [server.connection]
    if isinstance(server, KafkaServer) and server.schema_registry is not None and server.schema_registry.connection:
        names.append(server.schema_registry.connection)
    if server.hash_key is not None:
        names.append(server.hash_key)
    result = {}
    for name in names:
        variable = variable_of(name)
        if variable in os.environ:
            continue
        try:
            result[variable] = BaseHook.get_connection(name).get_uri()
        except AirflowNotFoundException:
            continue
    return result
