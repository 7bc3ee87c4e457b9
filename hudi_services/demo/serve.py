"""Airflow left running on a registry: the demo's tables, or one's own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from types import FrameType

from rich.console import Console

from hoodie.errors import RegistryError
from hudi_services.demo.airflow_api import AirflowApi
from hudi_services.demo.airflow_process import AirflowHome, free_ports, is_free, running
from hudi_services.demo.run import DEMO_DAGS, DEMO_TABLES, land_all, prepare
from hudi_services.demo.steps import wait_for_dags
from hudi_services.registry.load import Reading, read_registry

ERRORS_DAG = "hudi_registry_errors"
_PLACES = ("HUDI_LAKE", "HUDI_LANDING")  # what one's own registry may say of them comes from the environment


def serve(console: Console, folder: Path, registry: Path, port: int, last: date) -> None:
    """Airflow on `registry` until Ctrl-C, SIGTERM or a closed terminal; with the demo's tables on what the last demo left, or on
    the files of the feed up to `last`.

    Raises RegistryError for a registry that cannot be used at all, MachineError when Airflow does not start.
    """
    page, *others = free_ports(3)
    own = {name: os.environ[name] for name in _PLACES if os.environ.get(name)}
    home = AirflowHome(folder, registry, ports=(port if is_free(port) else page, others[0], others[1]), places=own)
    reading = read_registry(registry, {**os.environ, **home.variables()})
    names = [table.name for table in reading.registry.tables]
    if not names and not reading.mistakes:
        raise RegistryError(f"Registry {registry} declares no table", fix="add one to its section `tables`")
    demo = set(names) >= DEMO_TABLES and not own
    if demo and not home.landing.exists():
        land_all(console, home, last)
    console.print(f"{registry}: {_told(reading)}", markup=False, soft_wrap=True)
    console.print("starting Airflow ...")
    with _stopped_by_signals(), suppress(KeyboardInterrupt), running(home) as api:
        if demo:
            prepare(home, api)
        _wait(home, api, reading)
        console.print(f"\nAirflow is at [bold]{home.address}[/bold]")
        for user, password in home.passwords().items():
            console.print(f"  login {user}, password {password}")
        if demo:
            console.print(f"\nTry a backfill of {DEMO_DAGS[0]}, or trigger {DEMO_DAGS[1]}.")
        else:
            console.print("\nNew DAGs are paused: switch on those that shall run.")
        console.print("Ctrl-C stops it.")
        while True:
            time.sleep(3600)


def _told(reading: Reading) -> str:
    names = [table.name for table in reading.registry.tables]
    lines = [f"tables: {', '.join(names[:10]) or 'none'}{f' and {len(names) - 10} more' if len(names) > 10 else ''}"]
    if reading.mistakes:
        lines.append(f"mistakes, which the DAG {ERRORS_DAG} shows too:")
        lines += [f"  {mistake}" for mistake in reading.mistakes]
    return "\n".join(lines)


def _wait(home: AirflowHome, api: AirflowApi, reading: Reading) -> None:
    """Until Airflow shows the registry: a DAG of each table, and the one of its mistakes."""
    home.command("hoodie_airflow.pools")
    wanted = [f"hudi_clean__{table.name}" for table in reading.registry.tables]
    wait_for_dags(api, [*wanted, *([ERRORS_DAG] if reading.mistakes else [])])


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the block as Ctrl-C does: Airflow's processes are stopped on the way out."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
