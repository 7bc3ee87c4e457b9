"""A task of Airflow without Airflow: the parts of the context that operators use."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from airflow.sdk.api.datamodels._generated import DagRunType


class Tried:
    """Stands in for the task instance: keeps its XComs."""

    dag_id, run_id, task_id, map_index, try_number = "hudi_ingest__flights", "manual__1", "ingest", -1, 2

    def __init__(self) -> None:
        self.xcoms: dict[str, Any] = {}

    def xcom_push(self, key: str, value: Any) -> None:
        self.xcoms[key] = json.loads(json.dumps(value))

    def xcom_pull(self, task_ids: str, key: str = "return_value") -> Any:
        return self.xcoms[key]


class Events:
    """Stands in for the context's outlet events."""

    def __init__(self) -> None:
        self.added: list[tuple[Any, Any, dict[str, Any]]] = []

    def __getitem__(self, alias: Any) -> Any:
        return SimpleNamespace(add=lambda asset, extra: self.added.append((alias, asset, extra)))


class StoredEvents:
    """Stands in for the context's inlet events: those that Airflow stored of tasks that succeeded."""

    def __init__(self, stored: list[tuple[Any, dict[str, Any]]]) -> None:
        self.stored = stored

    def __getitem__(self, asset: Any) -> StoredEvents:
        return StoredEvents([(one, extra) for one, extra in self.stored if one == asset])

    def ascending(self, ascending: bool) -> StoredEvents:
        return self if ascending else StoredEvents(self.stored[::-1])

    def limit(self, limit: int) -> list[Any]:
        return [SimpleNamespace(extra=json.loads(json.dumps(extra))) for _, extra in self.stored[:limit]]


def context(run_type: DagRunType = DagRunType.BACKFILL, **params: Any) -> dict[str, Any]:
    begin, end = datetime(2013, 1, 5, 6, tzinfo=UTC), datetime(2013, 1, 6, 6, tzinfo=UTC)
    run = SimpleNamespace(run_type=run_type, data_interval_start=begin, data_interval_end=end)
    inlets = StoredEvents([])
    return {"params": params, "dag_run": run, "outlet_events": Events(), "inlet_events": inlets, "ti": Tried()}
