"""Check that the table of an entry exists: its services are scheduled from the day of the entry, before the first ingestion."""

from __future__ import annotations

from hoodie.errors import OccupiedPathError, TableNotFoundError
from hudi_services.entry.dag import Outlook
from hudi_services.entry.table import Table

_MAKES_TABLE = ("bootstrap", "ingest", "stream")


def not_begun(table: Table) -> Outlook | None:
    """An outlook without work while an ingestion of ours has yet to make the table; None if the table exists, or others have to
    make it. None also if the path has other files: the run says so."""
    from hoodie.table import HoodieTable  # loads Arrow

    if not table.filled_here:
        return None
    try:
        HoodieTable.open(table.base_path)
    except OccupiedPathError:
        return None
    except TableNotFoundError:
        return Outlook(False, f"nothing was ingested yet: there is no table at {table.base_path}")
    return None


def awaits_load(service: str, table: Table) -> Outlook | None:
    """The same for one service: None for those that make the table."""
    return None if service in _MAKES_TABLE else not_begun(table)
