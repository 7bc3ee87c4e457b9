"""The doctor's rounds as a DAG: when it is there, what its run leaves, and on what it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import CronDataIntervalTimetable
from airflow.sdk.exceptions import AirflowFailException

from hoodie_airflow import task_result as outcome
from hoodie_airflow.doctor import HudiDoctorOperator, doctor_dag
from hoodie_airflow.task_result import FAILURE
from hudi_services.entry.doctor import Doctor
from tests.support.airflow_task import context
from tests.support.tables import SMALL_BLOOM, batch, create


def registry(tmp_path: Path, tables: str, doctor: str = "") -> Path:
    """Tables by name below the folder."""
    lines = [f"  - {{name: {name}, base_path: {tmp_path}/{name}}}" for name in tables.split()]
    (file := tmp_path / "tables.yaml").write_text("\n".join([doctor, "tables:", *lines]))
    return file


def filled(path: Path) -> Any:
    table = create(path)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


def looked(file: Path, *, deep: bool = False, **doctor: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a run, and its XComs."""
    operator = HudiDoctorOperator(task_id="doctor", file=str(file), doctor=Doctor(**doctor))
    run = context(deep=deep)
    result = operator.execute(run)
    json.dumps(result)
    return result, run["ti"].xcoms


def test_only_a_registry_that_asks_for_it_has_the_dag(tmp_path: Path) -> None:
    assert doctor_dag(registry(tmp_path, "a")) is None
    dag = doctor_dag(registry(tmp_path, "a", "doctor: {schedule: 0 5 * * *, deep: true}"))
    assert dag is not None
    assert (dag.dag_id, dag.params["deep"], [task.task_id for task in dag.tasks]) == ("hudi_doctor", True, ["doctor"])
    assert isinstance(dag.timetable, CronDataIntervalTimetable)
    assert dag.timetable.expression == "0 5 * * *"
    by_hand = doctor_dag(registry(tmp_path, "a", "doctor: {}"))
    assert by_hand is not None
    assert by_hand.schedule is None


def test_healthy_and_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(tmp_path / "a")
    file = registry(tmp_path, "a b")
    result, xcoms = looked(file)  # table b does not exist yet
    assert (result["exit_code"], result["tables"], result["healthy"]) == (1, 2, 1)
    assert [(each["table"], each["check"], each["severity"]) for each in result["findings"]] == [
        ("b", "no-table", "warning")
    ]
    assert result["message"].startswith("1 table healthy, 1 not: 1 warning")
    assert FAILURE not in xcoms
    with pytest.raises(AirflowFailException, match="b: no-table: "):
        looked(file, fails_on="warning")


def test_damage_fails_the_run_and_is_told(tmp_path: Path) -> None:
    table = filled(tmp_path / "a")
    (base,) = tmp_path.glob("a/part=p/*.parquet")
    body = base.read_bytes()
    base.unlink()
    operator, run = HudiDoctorOperator(task_id="doctor", file=str(registry(tmp_path, "a")), doctor=Doctor()), context()
    with pytest.raises(AirflowFailException, match="a: missing-file: "):
        operator.execute(run)
    assert run["ti"].xcoms["return_value"]["findings"][0]["path"] == f"part=p/{base.name}"
    assert run["ti"].xcoms[FAILURE]["exit_code"] == 2
    base.write_bytes(body[:-4] + b"torn")
    assert looked(registry(tmp_path, "a"))[0]["exit_code"] == 0, "data files are not read"
    with pytest.raises(AirflowFailException, match="a: torn-file: "):
        looked(registry(tmp_path, "a"), deep=True)
    assert table.timeline.pending == ()


def test_a_mistake_in_the_registry_is_a_finding_and_the_other_tables_are_looked_at(tmp_path: Path) -> None:
    filled(tmp_path / "a")
    file = registry(tmp_path, "a")
    file.write_text(file.read_text() + "\n  - {name: c, base_path: /c, keyz: 1}")
    with pytest.raises(AirflowFailException, match="c: unreadable: its entry in the registry has a mistake"):
        looked(file)


def test_findings_that_are_too_many_for_an_xcom_are_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "logs_go_elsewhere", lambda: False)
    monkeypatch.setattr(outcome, "beside_log", lambda context, name: tmp_path / "logs" / name)
    result, _ = looked(registry(tmp_path, " ".join(f"t{number}" for number in range(300))))
    assert len(json.dumps(result)) < 48 * 1024
    assert result["findings_left_out"] + len(result["findings"]) == 300
    assert len(json.loads(Path(result["whole_health"]).read_text())["findings"]) == 300
