"""A database server of a registry, by its name."""

from __future__ import annotations

import difflib

from hoodie.errors import ConfigError
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.load import Reading
from hudi_services.registry.mistakes import as_error


def database_server(name: str, reading: Reading) -> DatabaseServer:
    """Return the database server `name`. Raises ConfigError for other names, RegistryError for one with mistakes."""
    file, registry = reading.registry.file, reading.registry
    server = registry.servers.get(name)
    if isinstance(server, DatabaseServer):
        return server
    if server is not None:
        raise ConfigError(
            f"The server {name!r} is not a database server",
            found=f"type {server.type} in {file}",
            fix="name a server of type mysql. `hudi-services ingest --table NAME` loads a table from its topic",
        )
    mistakes = [mistake for mistake in reading.mistakes if mistake.table is None]
    if mistakes:
        raise as_error(file, mistakes)
    known = sorted(registry.servers)
    close = difflib.get_close_matches(name, known) or known[:10]
    raise ConfigError(
        f"The registry {file} has no server {name!r}",
        fix=f"name one of {', '.join(close)}" if close else "declare it there, below `servers`",
    )
