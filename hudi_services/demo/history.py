"""A year of flights that lies there as a plain Parquet table becomes a Hudi table without a copy; daily files come on top."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from hoodie import HoodieTable
from hoodie.display import size_of
from hudi_services.demo import report
from hudi_services.demo.flights import KEY
from hudi_services.demo.home import DemoHome
from hudi_services.demo.land import expected, land, settled
from hudi_services.demo.steps import answer, wait_for_run
from hudi_services.local_airflow.api import AirflowApi

BOOTSTRAP, INGEST = "hudi_bootstrap__flights_history", "hudi_ingest__flights_history"
_YEAR = date(2013, 1, 1)
_FIRST, _LAST = date(2013, 12, 29), date(2013, 12, 31)  # the feed; of its first drop the history knows already
_DAY = timedelta(days=1)


def land_history(console: Console, home: DemoHome) -> None:
    """The plain table as Spark or Hive leaves one: the partition column is only in the names of the folders. And a feed."""
    rows, folder = _history(), home.landing / "history"
    pq.write_to_dataset(rows, folder, partition_cols=["month"], basename_template="part-{i}.parquet")
    files = [path.stat().st_size for path in folder.rglob("*.parquet")]
    land(home.landing / "history_feed", _FIRST, _LAST)
    console.print(
        f"The flights of 2013 up to {_FIRST} are there as a plain Parquet table: {len(files)} files, "
        f"{rows.num_rows:,} rows, {size_of(sum(files))}"
    )


def take_over(console: Console, home: DemoHome, api: AirflowApi) -> None:
    """The migration of the plain table, approved by the demo, then the daily files."""
    console.print(f"\n{BOOTSTRAP}, the plain table becomes a Hudi table without a copy of its rows:")
    run = api.trigger(BOOTSTRAP, {})
    console.print(f"  preflight: {wait_for_run(api, BOOTSTRAP, run, 'preflight').result['message']}")
    question = answer(api, BOOTSTRAP, run, "approve", "Approve")
    console.print(f'  approval: "{question}" A person answers under Required Actions; the demo just approved')
    for step in ("bootstrap", "validate"):
        console.print(f"  {step}: {wait_for_run(api, BOOTSTRAP, run, step).result['message']}")
    wait_for_run(api, BOOTSTRAP, run, "ingestion_on")
    days = {"from": str(_FIRST + _DAY), "to": str(_LAST + _DAY)}
    loaded = wait_for_run(api, INGEST, api.trigger(INGEST, days), "ingest")
    console.print(f"{INGEST}, the files of {_FIRST + _DAY} and {_LAST} on top:\n  {report.load_line(loaded)}")
    slices = HoodieTable.open(str(home.lake / "flights_history")).file_slices()
    bootstrapped = sum(piece.base_file is not None and piece.base_file.source is not None for piece in slices)
    console.print(
        f"  {bootstrapped} of {len(slices)} file groups still have their rows in the files of the plain table"
    )


def history_now() -> pa.Table:
    """The table after `take_over`, sorted by key."""
    rows = pa.concat_tables([settled(_YEAR, _FIRST - _DAY), expected(_FIRST, _LAST)])
    return rows.sort_by([(name, "ascending") for name in KEY])


def _history() -> pa.Table:
    return pa.concat_tables([settled(_YEAR, _FIRST - _DAY), expected(_FIRST, _FIRST)])
