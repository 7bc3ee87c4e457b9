"""The demo from the first file to the last line: land, load by a backfill, clean, read, compare."""

from __future__ import annotations

import os
import shutil
import time
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
from rich.console import Console

from hoodie import HoodieTable
from hoodie.display import size_of
from hoodie.errors import HoodieError
from hudi_services.demo import report
from hudi_services.demo.flights import KEY
from hudi_services.demo.history import BOOTSTRAP, history_now, land_history, take_over
from hudi_services.demo.history import INGEST as INGEST_HISTORY
from hudi_services.demo.home import DemoHome
from hudi_services.demo.land import damaged_rows, expected, land
from hudi_services.demo.steps import Step, backfill, load_steps, wait_for_first, wait_for_run
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.dags import wait_for_dags
from hudi_services.local_airflow.owner import check_free
from hudi_services.local_airflow.processes import running
from hudi_services.registry.load import Reading, read_registry
from hudi_services.runtime.spark.java import find_java

FIRST = date(2013, 1, 29)  # a few days from here lie in two months: two partitions
INGEST, CLEAN = "hudi_ingest__flights", "hudi_clean__flights"
INGEST_LIVE, COMPACT_LIVE = "hudi_ingest__flights_live", "hudi_compact__flights_live"
UNCHANGED_SECONDS = 120  # between looks at DAG files, which stay as they are: each takes three seconds of a core
DEMO_TABLES = frozenset({"flights", "flights_live", "flights_history"})
DEMO_DAGS = (INGEST, CLEAN, INGEST_LIVE, COMPACT_LIVE, BOOTSTRAP, INGEST_HISTORY)


class DemoError(HoodieError):
    """The demo did not end as it must."""


def run(folder: Path, days: int) -> None:
    """Run the whole demo in `folder`, which is emptied first.

    Raises HoodieError when a step fails or the table does not match the feed.
    """
    console = report.console()
    start = time.monotonic()
    check_free(folder)
    shutil.rmtree(folder, ignore_errors=True)
    home = DemoHome(folder, dag_seconds=UNCHANGED_SECONDS)
    last = FIRST + timedelta(days=days - 1)
    java = find_java()
    console.print(f"Java {java.version} ({java.origin}), Spark {home.spark_master}, SQLite; everything is in {folder}")
    _check_registry(home)
    land_all(console, home, last)
    with running(home) as api:
        console.print(f"Airflow is up after {time.monotonic() - start:.0f} s: {home.address} (user admin)")
        prepare(home, api)
        console.print(f"\nBackfill of {INGEST} from {FIRST} to {last}, a run a day:")
        backfill(api, INGEST, FIRST, last)
        loads = []
        for step in load_steps(api, INGEST, days):
            loads.append(step)
            console.print(f"  {step.label}: {report.load_line(step)}")
        console.print(f"\n{CLEAN}, by hand and with 1 retained commit:")
        run_id = api.trigger(CLEAN, {"retained": 1})
        clean = wait_for_run(api, CLEAN, run_id, "clean")
        console.print(f"  {clean.result['message']}")
        cleans = [*_automatic_cleans(api, run_id), clean]
        _load_live(console, api, last)
        take_over(console, home, api)
    table = HoodieTable.open(str(home.lake / "flights"))
    report.show(console, table, loads, cleans)
    quarantined = sum(step.result["rows_quarantined"] for step in loads)
    if quarantined != damaged_rows(FIRST, last):
        raise DemoError("Damaged rows are missing in the quarantine", found=f"{quarantined} rows")
    for name, expected_rows in (
        ("", expected(FIRST, last)),
        ("_live", expected(FIRST, last)),
        ("_history", history_now()),
    ):
        _check(HoodieTable.open(str(home.lake / f"flights{name}")), expected_rows)
    console.print(
        f"\n[bold green]All three tables hold exactly what the feed says[/bold green] "
        f"(compared row by row; {damaged_rows(FIRST, last)} damaged rows are in quarantine). "
        f"{time.monotonic() - start:.0f} s in all.\n`make airflow` opens this Airflow again, and says its addresses; "
        f"then all tables are at {home.tables}."
    )


def land_all(console: Console, home: DemoHome, last: date) -> None:
    """The feed up to `last`, and the plain table of the year."""
    _land(console, home, last)
    land_history(console, home)


def _land(console: Console, home: DemoHome, last: date) -> None:
    files = land(home.landing / "flights", FIRST, last)
    size = sum(file.stat().st_size for file, _ in files)
    rows = sum(rows for _, rows in files)
    console.print(f"The feed of {FIRST} to {last} has landed: {len(files)} files, {rows:,} rows, {size_of(size)}")


def _check_registry(home: DemoHome) -> None:
    """Raises DemoError at once, not after minutes in Airflow, when the demo's tables are not declared."""
    declared = {table.name for table in _reading(home).registry.tables}
    if missing := DEMO_TABLES - declared:
        raise DemoError(
            f"The demo's tables are not in {home.registry}",
            found=f"no {', '.join(sorted(missing))}",
            fix="put its tables.yaml back for the demo, or open your own tables with `make airflow`",
        )


def _reading(home: DemoHome) -> Reading:
    return read_registry(home.registry, {**os.environ, **home.variables()})


def prepare(home: DemoHome, api: AirflowApi) -> None:
    """Pools, and the demo's DAGs switched on."""
    api.make_pools(_reading(home).registry.pools)
    wait_for_dags(api, DEMO_DAGS)
    switch_on(api)


def switch_on(api: AirflowApi) -> None:
    """The demo's DAGs."""
    for dag in DEMO_DAGS:
        api.unpause(dag)


def _load_live(console: Console, api: AirflowApi, last: date) -> None:
    """The feed again, as a merge-on-read table: the later days update the first one in logs, which a DAG of its own compacts."""
    console.print(f"\n{INGEST_LIVE}, a merge-on-read table: the first day, then the others:")
    for start, end in ((FIRST, FIRST), (FIRST + timedelta(days=1), last)):
        run = api.trigger(INGEST_LIVE, {"from": str(start), "to": str(end + timedelta(days=1))})
        console.print(f"  {report.load_line(wait_for_run(api, INGEST_LIVE, run, 'ingest'))}")
    compacted = wait_for_first(api, COMPACT_LIVE, "execute")
    console.print(f"{COMPACT_LIVE}, started by these loads:\n  {compacted.result['message']}")


def _automatic_cleans(api: AirflowApi, by_hand: str) -> list[Step]:
    """The cleans that loads started; a run that found too few commits skipped its task."""
    steps = []
    for result in api.runs(CLEAN):
        if result["dag_run_id"] != by_hand:
            tasks = {task["task_id"]: task["state"] for task in api.tasks(CLEAN, result["dag_run_id"])}
            if tasks.get("clean") == "success":
                steps.append(wait_for_run(api, CLEAN, result["dag_run_id"], "clean"))
    return steps


def _check(table: HoodieTable, expected_rows: pa.Table) -> None:
    actual_rows = table.read(columns=expected_rows.column_names)
    keys = [(name, "ascending") for name in KEY]
    if not actual_rows.sort_by(keys).cast(expected_rows.schema).combine_chunks().equals(expected_rows.combine_chunks()):
        raise DemoError(
            f"The table {table.properties.name} does not hold what the feed says",
            found=f"{actual_rows.num_rows:,} rows; {expected_rows.num_rows:,} are right",
            fix="this is a bug: please report it with the files in .demo/",
        )
