"""The place of a registry's store."""

from __future__ import annotations

from pathlib import Path

from hudi_services.registry.load import Registry


def store_of(registry: Registry) -> str:
    """A path of a SQLite file, or a URL of SQLAlchemy's: the place that the registry names, a path as seen from its own
    folder. The default is a file beside the registry."""
    folder = Path(registry.file).absolute().parent
    named = registry.watch.store
    if named is not None and "://" in named:
        return named
    return str(folder / (named or ".watch/snapshots.db"))
