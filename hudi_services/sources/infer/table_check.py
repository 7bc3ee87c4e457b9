"""A check of the folder: the files of a Hudi table are versions of its rows, and no feed may load them."""

from __future__ import annotations

import shlex

from hoodie.errors import SourceError
from hoodie.model.place import identity
from hoodie.services.relocation.copy import is_table, table_around
from hoodie.services.relocation.obstacles import nested_tables
from hoodie.storage import open_storage

_SHOWN = 3  # tables that are named


def check_no_table(folder: str) -> None:
    """Raises SourceError for a folder that is a table, lies in one, or has tables below it."""
    place = identity(folder)
    around = place if is_table(place) else table_around(place)
    if around is not None:
        raise SourceError(
            f"{folder} {'is' if around == place else 'lies in'} a Hudi table",
            found=f"the table {around}, whose files are versions of its rows and no deliveries",
            fix=f"look at its rows with `hudi-services show rows --target-base-path {shlex.quote(around)}`; to run services on "
            "it, give an entry of the registry this `base_path` and no `source`",
        )
    tables = list(nested_tables(open_storage(folder)))
    if tables:
        more = f" and {len(tables) - _SHOWN} more" if len(tables) > _SHOWN else ""
        raise SourceError(
            f"{folder} has Hudi tables below it",
            found=f"{', '.join(tables[:_SHOWN])}{more}, whose files are versions of their rows and no deliveries",
            fix="name a folder that has deliveries alone; a table needs an entry with its `base_path` and no `source`",
        )
