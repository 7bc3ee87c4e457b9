"""The demo's Airflow left running: on what the last demo left, or on the files of the feed."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

from rich.console import Console

from hudi_services.demo.home import DemoHome
from hudi_services.demo.run import DEMO_DAGS, DEMO_TABLES, land_all, switch_on
from hudi_services.local_airflow import launcher as embedded
from hudi_services.registry.load import read_registry


def serve(console: Console, folder: Path, port: int | None, last: date) -> None:
    """Airflow on the project's tables.yaml until it is stopped; with the demo's tables in it on the feed up to `last`.

    Raises what the embedded `serve` does.
    """
    home = DemoHome(folder)
    names = {table.name for table in read_registry(home.registry, {**os.environ, **home.variables()}).registry.tables}
    if not names >= DEMO_TABLES:
        embedded.serve(console, DemoHome(folder, paused=False), port)
        return
    if not home.landing.exists():
        land_all(console, home, last)
    hint = f"Try a backfill of {DEMO_DAGS[0]}, or trigger {DEMO_DAGS[1]}."
    embedded.serve(console, home, port, switch_on, hint)
