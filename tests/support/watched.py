"""Tables that a watcher follows, and the events of its store."""

from __future__ import annotations

from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.table_look import look_at
from tests.support.tables import SMALL_BLOOM, batch


def entry(table, name="orders"):
    """The table as an entry of a registry."""
    return Table(name=name, base_path=str(table.base_path))


def write(table, key="a", ts=1):
    """Upsert one row. Returns the completed instant."""
    return table.write(batch([(key, "p", ts, ts)]), "upsert", SMALL_BLOOM).instant


def reported(store):
    """Instant and action of each event."""
    return [(each.instant, each.action) for each in store.events()]


def look_at_table(table):
    """A look at the table by the library, as the watcher makes it."""
    return look_at(ChosenTable(table.base_path, entry(table)), table.clock)
