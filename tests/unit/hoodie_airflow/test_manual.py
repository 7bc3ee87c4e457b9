"""The forms of runs by hand: Airflow refuses what makes no sense, and what a field says reaches the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException, ParamValidationError

from hoodie.errors import ConfigError
from hoodie_airflow.forms import only_known, skip_planned
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.services.clustering.entry import CLUSTER
from hudi_services.services.entries import entry_named
from hudi_services.sources.ingest.entry import INGEST
from tests.support.airflow_task import context
from tests.unit.hoodie_airflow.test_factory import load


@pytest.mark.parametrize(
    ("dag", "field", "wrong", "right"),
    [
        ("hudi_ingest__events", "reload_since", "yesterday", "20260103061500000"),
        ("hudi_ingest__events", "reload_since", "2026-01-03", "20260103061500"),
        ("hudi_ingest__events", "reload", "maybe", True),
        ("hudi_ingest__events", "files", "a.csv", ["a.csv", "dt=2026-01-03/"]),
        ("hudi_ingest__events", "files", ["/land/a.csv"], None),
        ("hudi_ingest__flights", "from", "soon", "2026-01-03"),
    ],
)
def test_airflow_refuses_what_makes_no_sense(registry: Path, dag: str, field: str, wrong: Any, right: Any) -> None:
    params = load()[dag].params
    params[field] = right
    assert params.validate()[field] == right
    with pytest.raises(ParamValidationError, match=field):
        params[field] = wrong


def test_what_is_loaded_again_reaches_the_service(registry: Path) -> None:
    events = next(table for table in load_registry(registry).tables if table.name == "events")

    def flags(**params: Any) -> tuple[str, ...]:
        return INGEST.called_with(events, RunRequest("", params)).flags

    again = {"--files", "--reload", "--reload-since"}
    assert not again & set(flags(files=None, reload=False, reload_since=None))
    chosen = flags(files=["a*.csv", "x/"], reload=True)
    at = chosen.index("--files")
    assert chosen[at : at + 5] == ("--files", "a*.csv", "--files", "x/", "--reload")
    since = flags(reload_since="20260103061500000")
    assert since[since.index("--reload-since") + 1] == "20260103061500000"


def test_a_backfill_that_loads_again_leaves_the_days_before_alone(registry: Path) -> None:
    flights = next(table for table in load_registry(registry).tables if table.name == "flights")
    with pytest.raises(ValueError, match="catch_up_late contradicts reload"):
        INGEST.called_with(flights, RunRequest("", {"catch_up_late": "yes", "reload": True}, "backfill"))


PLANNED = """
tables:
  - name: trips
    base_path: /lake/trips
    type: MERGE_ON_READ
    keys: {record_key: id}
    source: {path: /land/trips, format: parquet}
    compact: {max_plans: 3}
    cluster: {hoodie: {hoodie.clustering.plan.strategy.partition.regex.pattern: new.*}}
"""


@pytest.mark.parametrize("service", ["compact", "cluster"])
def test_a_plan_by_hand(registry: Path, service: str) -> None:
    registry.write_text(PLANNED)
    (table,) = load_registry(registry).tables
    entry = entry_named(service)
    form = {"force": True, "max_plans": 1}
    scheduled = entry.called_with(table, RunRequest("schedule", form)).flags
    assert scheduled == ("--mode", "schedule", "--force")
    assert entry.called_with(table, RunRequest("execute", form)).flags == ("--mode", "execute", "--max-plans", "1")
    assert entry.called_with(table, RunRequest("schedule", {"force": False, "max_plans": None})).flags == scheduled[:2]
    look = entry.dag.steps(table, entry.section_of(table))[0].look
    assert look(RunRequest("", form)).due
    assert not look(RunRequest("", {"force": False})).due, "there is no table"
    params = load()[f"hudi_{service}__trips"].params
    for field, wrong in (("force", "x"), ("max_plans", 0)):
        with pytest.raises(ParamValidationError, match=field):
            params[field] = wrong


def test_a_compaction_is_unscheduled_by_the_form_and_nothing_else_is_done(registry: Path) -> None:
    registry.write_text(PLANNED)
    (table,) = load_registry(registry).tables
    entry, form = entry_named("compact"), {"unschedule": "20260301060000123", "max_plans": 1}
    assert entry.called_with(table, RunRequest("schedule", form)).flags == ("--unschedule", "20260301060000123")
    assert entry.dag.steps(table, entry.section_of(table))[0].look(RunRequest("", form)).due
    with pytest.raises(AirflowSkipException, match="has removed a plan"):
        skip_planned(context(**form), "schedule")
    for more in ({"force": True}, {"plan": "0123456789ab"}):
        with pytest.raises(ValueError, match="unschedule contradicts"):
            entry.called_with(table, RunRequest("schedule", {**form, **more}))
    params = load()["hudi_compact__trips"].params
    with pytest.raises(ParamValidationError, match="unschedule"):
        params["unschedule"] = "the last"


def test_what_a_clustering_by_hand_is_of(registry: Path) -> None:
    registry.write_text(PLANNED)
    (table,) = load_registry(registry).tables
    prefix = "hoodie.clustering.plan.strategy."
    form = {"partitions": ["day=1", "day=2"], "columns": ["city"]}
    said = CLUSTER.called_with(table, RunRequest("schedule", form)).options
    assert said[f"{prefix}partition.selected"] == "day=1,day=2"
    assert said[f"{prefix}sort.columns"] == "city"
    assert said[f"{prefix}partition.regex.pattern"] == ".*", "the person's choice goes before the registry's"
    own = {f"{prefix}partition.regex.pattern": "new.*"}
    assert CLUSTER.called_with(table, RunRequest("execute", form)).options == own
    assert CLUSTER.called_with(table, RunRequest("schedule", {"partitions": [], "columns": None})).options == own
    assert CLUSTER.dag.steps(table, CLUSTER.section_of(table))[0].look(RunRequest("", form)).due
    params = load()["hudi_cluster__trips"].params
    with pytest.raises(ParamValidationError, match="partitions"):
        params["partitions"] = ["day=1,day=2"]


def test_a_key_that_the_form_does_not_have_is_refused(tables: dict[str, Table]) -> None:
    """Airflow takes it, and a day that is misspelt would load all of them."""
    run, fields = context(), entry_named("ingest").dag.form(tables["flights"])
    for conf in (None, {}, {"objective": "freshness"}, {"from": "2026-11-20", "reload": True}):
        run["dag_run"].conf = conf
        only_known(run, fields)
    run["dag_run"].conf = {"form": "2026-11-20"}
    with pytest.raises(ConfigError, match="did you mean 'from'"):
        only_known(run, fields)
