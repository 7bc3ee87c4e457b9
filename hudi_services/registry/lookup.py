"""The registry that a command means, and a table in it by its name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from hoodie.errors import ConfigError
from hudi_services.entry.table import Table
from hudi_services.registry.load import read_registry
from hudi_services.registry.mistakes import as_error
from hudi_services.services.entries import ENTRIES, Entries

VARIABLE = "HUDI_REGISTRY"
HERE = "tables.yaml"


def registry_file(named: str | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The registry file: the file named, the one of the variable HUDI_REGISTRY, or tables.yaml in the working directory, in
    this order.

    Raises ConfigError when it is not there.
    """
    variable = environ.get(VARIABLE)
    for origin, file in (("--registry", named), (VARIABLE, variable)):
        if file:
            if not Path(file).is_file():
                raise ConfigError(f"The registry {file} of {origin} is not there", fix=f"correct {origin}")
            return Path(file)
    if not Path(HERE).is_file():
        raise ConfigError(
            "There is no registry to look into",
            found=f"no {HERE} in {Path.cwd()}, and {VARIABLE} is not set",
            fix=f"pass --registry FILE, or set {VARIABLE}",
        )
    return Path(HERE)


def table_named(name: str, file: Path, entries: Entries = ENTRIES, environ: Mapping[str, str] = os.environ) -> Table:
    """The entry of a table. Raises RegistryError with the mistakes in it, ConfigError for a name that no table has."""
    reading = read_registry(file, environ, only=name, entries=entries)
    mistakes = [mistake for mistake in reading.mistakes if mistake.table in (None, name)]
    table = reading.registry.table(name)
    # Two entries may have the name, of which the second is the mistake: the user may mean that one.
    if table is not None and not any(mistake.table == name for mistake in mistakes):
        return table
    if mistakes:
        raise as_error(str(file), mistakes)
    known = table_names(file, entries)
    close = difflib.get_close_matches(name, known) or known[:10]
    raise ConfigError(
        f"The registry {file} has no table {name!r}",
        fix=f"name one of {', '.join(close)}" if close else "declare it there, below `tables`",
    )


def table_names(file: Path, entries: Entries = ENTRIES) -> list[str]:
    """The names of all tables, also of those with mistakes in their entries, in order."""
    reading = read_registry(file, entries=entries)
    names = {table.name for table in reading.registry.tables}
    return sorted(names | {mistake.table for mistake in reading.mistakes if mistake.table is not None})
