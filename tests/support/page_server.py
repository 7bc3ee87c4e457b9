"""Airflow's API server by itself, with the pages and rights to the DAGs of a registry's tables: no scheduler reads DAG files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hudi_services.local_airflow.home import AirflowHome
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.model import Cursor, Summary
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.servers import Server


@contextmanager
def page_server(folder: Path, registry: Path, names: Sequence[str]) -> Iterator[AirflowHome]:
    """Up, with the users `admin` and `viewer`; Airflow knows a clean DAG of each of the tables named."""
    home = AirflowHome(folder / "airflow-home", registry)
    home.make()
    environment = home.environment()
    home.migrate()
    listed = folder / "names.txt"
    listed.write_text("\n".join(names))
    home.command("tests.support.page_server", str(listed))
    command: list[object] = [sys.executable, "-m", "airflow", "api-server", "--apps", "core"]
    server = Server("api-server", command, home.ports[0], home.folder, environment)
    try:
        yield home
    finally:
        server.stop()


def fill_store(registry: Path, names: Sequence[str]) -> None:
    """As if the watcher had just looked at these tables; every tenth misses an objective."""
    store = SnapshotStore.open(store_of(read_registry(registry).registry), make=True)
    now = datetime.now(UTC)
    for number, name in enumerate(names):
        summary = Summary(
            name,
            f"/lake/{name}",
            "ok",
            now,
            now - timedelta(minutes=number),
            rows=1000 * number,
            bytes=10**9 + number,
            files=number,
            log_bytes=10**6,
            instants=9,
        )
        if number % 10 == 0:
            summary = replace(summary, health="missed", missed=("freshness",), urgency=2.0, reason="freshness")
        store.save(Cursor("0"), summary)


def _know(names: Sequence[str]) -> None:
    """In a process of the home, whose database Airflow opens."""
    from airflow import settings
    from airflow.models.dag import DagModel
    from airflow.models.dagbundle import DagBundleModel

    with settings.Session() as session:
        session.add(DagBundleModel(name="dags-folder"))
        session.flush()
        for name in names:
            dag = f"hudi_clean__{name}"
            session.add(DagModel(dag_id=dag, bundle_name="dags-folder", fileloc="dags/hudi_clean.py"))
        session.commit()


if __name__ == "__main__":
    _know(Path(sys.argv[1]).read_text().splitlines())
