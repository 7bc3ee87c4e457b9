"""Registries of a test, and the advice on their tables."""

from __future__ import annotations

import json

from hoodie.clock import SystemClock
from hudi_services.operations.advice.rounds import rounds
from hudi_services.registry.load import read_registry


def registered(folder, *tables, **sections):
    """A registry of tables in the folder, each in one of its name."""
    file = folder / "tables.yaml"
    entries = [{"base_path": f"{folder}/{each['name']}", **each} for each in tables]
    file.write_text(json.dumps({**sections, "tables": entries}))
    return file


def advised(file, name):
    """The advice on a table of the registry, by kind."""
    [found] = [each for each in rounds(read_registry(file), 4, SystemClock(), None) if each.name == name]
    return {each.kind: each for each in found.advice}
