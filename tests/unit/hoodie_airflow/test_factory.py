"""The registry as DAGs, loaded the way Airflow's DAG processor does it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from airflow._shared.module_loading import find_path_from_directory
from airflow.configuration import conf
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG, AssetAny, AssetOrTimeSchedule, CronDataIntervalTimetable
from airflow.serialization.serialized_objects import DagSerialization

from hoodie_airflow.factory import service_dags
from hoodie_airflow.paths import PLUGINS, PROJECT

DAGS = {
    "hudi_bootstrap__old",
    "hudi_clean__events",
    "hudi_clean__flights",
    "hudi_clean__old",
    "hudi_clean__others",
    "hudi_clean__trips",
    "hudi_compact__trips",
    "hudi_ingest__events",
    "hudi_ingest__flights",
    "hudi_ingest__old",
    "hudi_ingest__trips",
    "hudi_sync__others",
    "hudi_sync__trips",
}


def bag() -> DagBag:
    return DagBag(PROJECT / "dags", bundle_path=PROJECT / "dags", load_op_links=False)


def load() -> dict[str, Any]:
    found = bag()
    assert found.import_errors == {}
    return dict(found.dags)


def mistakes() -> str:
    """Airflow's import errors."""
    ((file, text),) = bag().import_errors.items()
    assert file.endswith("hudi_registry.py")
    return str(text)


def test_one_dag_per_table_and_service(registry: Path) -> None:
    dags = load()
    assert set(dags) == DAGS
    flights = dags["hudi_ingest__flights"]
    assert flights.max_active_runs == 1
    assert not flights.catchup
    assert flights.schedule == CronDataIntervalTimetable("0 6 * * *", timezone="UTC")
    assert (flights.start_date, flights.end_date.date()) == (
        datetime(2013, 1, 1, tzinfo=UTC),
        datetime(2013, 12, 31).date(),
    )
    assert flights.tags == {"by hand", "demo", "hudi", "ingest"}, "its end has passed"
    task = flights.get_task("ingest")
    assert (task.pool, task.retries, task.retry_exponential_backoff) == ("hudi", 4, 2.0)
    assert task.conf == {"spark.driver.memory": "2g"}


def test_clean_runs_on_a_schedule_or_after_ingests_or_both(registry: Path) -> None:
    dags = load()
    both = dags["hudi_clean__flights"]
    assert isinstance(both.schedule, AssetOrTimeSchedule)
    assert both.get_task("clean").upstream_task_ids == {"due"}
    assert dags["hudi_clean__others"].schedule == CronDataIntervalTimetable("0 0 * * 0", timezone="UTC")
    assert dags["hudi_clean__events"].schedule is None
    events = dags["hudi_clean__events"]
    assert events.task_ids == ["clean", "approve", "clean_approved"]
    assert events.get_task("clean").asks == "DeleteCapError"
    assert events.get_task("approve").upstream_task_ids == {"clean"}
    assert events.get_task("approve").downstream_task_ids == {"clean_approved"}


def test_a_compaction_is_planned_and_executed_by_tasks_of_their_own(registry: Path) -> None:
    dag = load()["hudi_compact__trips"]
    assert dag.get_task("schedule").upstream_task_ids == {"due"}
    assert dag.get_task("execute").upstream_task_ids == {"schedule"}
    registry.write_text(registry.read_text().replace("    type: MERGE_ON_READ\n", ""))
    assert "has no effect on a COPY_ON_WRITE table" in mistakes()


def test_a_sync_follows_ingestions_and_compactions_in_a_dag_of_its_own(registry: Path) -> None:
    dags = load()
    trips, others = dags["hudi_sync__trips"], dags["hudi_sync__others"]
    changed = trips.timetable.asset_condition
    assert isinstance(changed, AssetAny), "either of them starts it"
    assert [asset.name for asset in changed.objects] == ["hudi.trips", "hudi.trips.compact"]
    assert isinstance(others.schedule, AssetOrTimeSchedule)
    assert trips.get_task("sync").pool == "hudi"
    assert "hive_sync.mode" in trips.doc_md
    shown = json.dumps(DagSerialization.serialize_dag(others)) + others.doc_md
    assert "geheim" not in shown
    assert "user=etl;password=…" in others.doc_md


def test_a_migration_waits_for_a_person_and_switches_ingestion_on(registry: Path) -> None:
    dags = load()
    dag = dags["hudi_bootstrap__old"]
    assert dag.schedule is None
    order = ["preflight", "approve", "bootstrap", "validate", "ingestion_on"]
    assert set(dag.task_ids) == set(order)
    for before, after in pairwise(order):
        assert dag.get_task(after).upstream_task_ids == {before}
    assert dag.get_task("bootstrap").conf == {"spark.driver.memory": "3g"}
    assert dags["hudi_ingest__old"].get_task("ingest").upstream_task_ids == {"bootstrapped"}
    changed = registry.read_text().replace("mode_regex: day=2.*", "approval: false")
    registry.write_text(changed.replace("  - name: old\n", "  - name: old\n    sync: {}\n"))
    dag = load()["hudi_bootstrap__old"]
    assert dag.get_task("bootstrap").upstream_task_ids == {"preflight"}
    assert dag.get_task("sync").upstream_task_ids == {"validate"}
    assert dag.get_task("ingestion_on").upstream_task_ids == {"sync"}
    registry.write_text(registry.read_text().replace("/plain/old,", "/plain/old, mode: COPY,"))
    assert "bootstrap.mode" in mistakes()


def test_forms(registry: Path) -> None:
    dags = load()
    assert dags["hudi_ingest__flights"].params.dump() == {
        "operation": "execute",
        "from": None,
        "to": None,
        "catch_up_late": "auto",
        "files": None,
        "reload": False,
        "reload_since": None,
    }
    fields = dags["hudi_ingest__flights"].params
    said = [fields.get_param(name).description for name in ("from", "to", "catch_up_late")]
    assert all("in a backfill" in text.lower() for text in said), "the same fields are in the dialog of a backfill"
    assert list(dags["hudi_ingest__events"].params) == ["operation", "files", "reload", "reload_since"]
    assert list(dags["hudi_clean__others"].params) == ["operation", "policy", "retained", "plan"]


def test_what_nothing_starts_says_so_where_dags_are_listed(registry: Path) -> None:
    dags = load()
    assert {name for name, dag in dags.items() if "by hand" in dag.tags} == {
        "hudi_clean__events",
        "hudi_clean__old",
        "hudi_clean__trips",
        "hudi_ingest__events",
        "hudi_ingest__flights",
        "hudi_ingest__old",
        "hudi_ingest__trips",
    }
    idle = dags["hudi_clean__events"]
    assert idle.description.endswith("(by hand only: neither clean.schedule nor clean.after_ingests is set)")
    assert "- **clean**: by hand only, neither clean.schedule nor clean.after_ingests is set" in idle.doc_md
    assert "- ingest: by hand only, ingest.schedule is not set" in idle.doc_md
    assert "by hand" not in dags["hudi_clean__flights"].description


def test_past_intervals_are_caught_up_with_where_the_table_says_so(registry: Path) -> None:
    assert not load()["hudi_ingest__flights"].catchup
    registry.write_text(registry.read_text().replace("start: 2013-01-01,", "start: 2013-01-01, catchup: true,"))
    dag = load()["hudi_ingest__flights"]
    assert dag.catchup
    assert dag.max_active_runs == 1, "one after the other, the oldest first"


def test_a_bad_table_does_not_take_the_others_down(registry: Path) -> None:
    registry.write_text(registry.read_text().replace("commits.retained", "comits.retained"))
    assert set(bag().dags) == DAGS - {"hudi_ingest__flights", "hudi_clean__flights"}
    assert "did you mean 'hoodie.clean.commits.retained'" in mistakes()
    assert f"{registry}:9: flights.clean.hoodie" in mistakes()


@pytest.mark.parametrize("content", [None, "tables: ["])
def test_a_registry_that_cannot_be_read_is_shown(registry: Path, content: str | None) -> None:
    registry.unlink() if content is None else registry.write_text(content)
    assert bag().dags == {}
    assert "cannot be read" in mistakes()


def test_a_tasks_start_builds_only_its_own_dag(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "hudi_clean__flights")
    assert [dag.dag_id for dag in service_dags("clean")] == ["hudi_clean__flights"]


def test_every_parse_gives_the_same_dag(registry: Path) -> None:
    def serialized() -> list[Any]:
        dags: list[DAG] = [*service_dags("ingest"), *service_dags("clean")]
        return [DagSerialization.serialize_dag(dag) for dag in dags]

    assert serialized() == serialized()


def test_airflow_finds_one_plugin() -> None:
    """Its loader runs each file that it finds as a module named by its stem."""
    files = find_path_from_directory(str(PLUGINS), ".airflowignore", conf.get("core", "dag_ignore_file_syntax"))
    assert [Path(file).relative_to(PLUGINS).name for file in files if file.endswith(".py")] == ["hudi_plugin.py"]


@pytest.mark.deep("a process that loads Airflow. Another test has the files that Airflow finds")
def test_airflow_does_not_run_the_library_as_plugins() -> None:
    """It would run each file as a module named by its stem: `types.py` in place of the standard library's."""
    script = """
import sys, types
from airflow import plugins_manager
_, errors = plugins_manager._get_plugins()
assert errors == {}, errors
folder = sys.argv[1]
strays = [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(folder)]
assert not [name for name in strays if name.partition(".")[0] not in ("hoodie", "hoodie_airflow", "hudi_plugin")], strays
assert sys.modules["types"] is types and not types.__file__.startswith(folder)
"""
    run = subprocess.run([sys.executable, "-c", script, str(PLUGINS)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


def test_commits_of_any_program_start_a_service_that_counts_them(registry: Path) -> None:
    """Also of a table that no ingestion of ours fills."""
    others = "  - {name: foreign, base_path: /lake/foreign, clean: {after_ingests: 2}, cluster: {after_ingests: 3}}\n"
    registry.write_text(registry.read_text() + others)
    dags = load()
    for dag in ("hudi_clean__foreign", "hudi_cluster__foreign"):
        ours, any_program = dags[dag].timetable.asset_condition.objects
        assert (ours.name, any_program.name) == ("hudi.foreign", "hudi.foreign.commits")
        assert any_program.watchers[0].trigger.table == "foreign"
        assert "by hand" not in dags[dag].tags
