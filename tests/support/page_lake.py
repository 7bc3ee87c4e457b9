"""A lake with a few tables, its registry, and a look of the watcher: for the pages of tables in a browser."""

from __future__ import annotations

from pathlib import Path

from hoodie import COMPACTION
from hoodie.clock import SystemClock
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.registry.load import read_registry
from tests.support.tables import SMALL_BLOOM, batch, create

MANY = [f"t{number:04}" for number in range(1000)]
FEW = ["orders", "visits", "gone"]
MARKUP = "<img src=x onerror=window.hurt=1>"


def write_lake(lake: Path) -> None:
    """Make the table of orders, with logs and a plan that is not executed yet."""
    table = create(lake / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in (1, 2):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})


def registry(home: AirflowHome, names: list[str], more: str = "", lake: Path = Path("/lake")) -> None:
    """Write the registry: tables with a clean, and descriptions that are markup."""
    clean = "clean: {schedule: 0 4 * * *}"
    lines = [f'  - {{name: {name}, base_path: {lake}/{name}, description: "{MARKUP}", {clean}}}\n' for name in names]
    home.registry.write_text("pages: {rows: true}\ntables:\n" + "".join(lines) + more)


def watch(home: AirflowHome) -> None:
    """Look at all tables but one."""
    reading = read_registry(home.registry)
    store = SnapshotStore.open(store_of(reading.registry), make=True)
    for entry in reading.registry.tables:
        if entry.name != "visits":
            look(entry, store, SystemClock())
