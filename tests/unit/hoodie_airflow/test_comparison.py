"""DAGs of database servers: three for any number of tables, made without a connection."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException

from hoodie.storage import open_storage
from hoodie_airflow.comparison import HudiResyncOperator, HudiResyncPlanOperator, HudiVerifyOperator
from hoodie_airflow.databases import HudiDatabaseOperator, database_dags
from hudi_services.local_airflow.registry_summary import dags_of
from hudi_services.registry import database_tables as registered
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.databases import shard_resync, verification
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sources.databases.table_verifications import TableVerification
from tests.support.airflow_task import context


@pytest.fixture
def file(tmp_path):
    """A registry with a server whose plan has 1,100 tables."""
    paths = {f"b1.t{number}": f"{tmp_path}/t{number}" for number in range(1_100)}
    PlanStore(open_storage(f"{tmp_path}/state"), "shop").put(StoredPlan(1, (), paths))
    registry = tmp_path / "tables.yaml"
    registry.write_text(
        f"""
servers:
  shop:
    {{type: mysql, connection: shop, server_id: 1, state: {tmp_path}/state, schedule: "@hourly", verify_schedule: "0 3 * * *"}}
  other: {{type: mysql, connection: shop, server_id: 2, state: {tmp_path}/state, schedule: "@daily"}}
  bare: {{type: mysql, connection: shop, server_id: 3, state: {tmp_path}/state}}
databases: [{{server: shop, database: b1, base_path: "{tmp_path}/{{table}}"}}]
"""
    )
    return registry


def test_a_server_of_1100_tables_has_three_dags_which_no_parsing_connects(file, monkeypatch):
    sockets = []
    monkeypatch.setattr(socket.socket, "connect", lambda *given: sockets.append(given))
    monkeypatch.setattr(socket, "create_connection", lambda *given, **said: sockets.append(given))
    dags = list(database_dags(file))
    assert sockets == []
    assert (
        [dag.dag_id for dag in dags]
        == dags_of(read_registry(file))
        == [
            *("hudi_database__shop", "hudi_database_verify__shop", "hudi_database_resync__shop"),
            *("hudi_database__other", "hudi_database_verify__other", "hudi_database_resync__other"),
        ]
    )
    schedules = [getattr(dag.schedule, "expression", None) for dag in dags]
    assert schedules == ["0 * * * *", "0 3 * * *", None, "0 0 * * *", None, None]
    assert dags[2].task_dict["resync"].upstream_task_ids == {"confirm"}
    assert dags[2].task_dict["confirm"].upstream_task_ids == {"plan"}


def test_a_resync_names_the_hudi_table_and_refuses_others(file, tmp_path):
    plan = HudiResyncPlanOperator(task_id="plan", server="shop", file=str(file))
    message = plan.execute(context(table="b1.t7"))["message"]
    assert f"`b1.t7` at the server shop are compared with those of `{tmp_path}/t7`" in message
    with pytest.raises(AirflowFailException, match=r"No table 'b1\.x' is loaded from shop"):
        plan.execute(context(table="b1.x"))


def test_rows_that_differ_fail_the_task_and_tables_that_are_left_do_not(file, monkeypatch):
    def result(table, state, **said):
        return TableVerification(table, state, 4, "bin.000001:4", "2026", **said)

    results = [result("b1.a", "equal"), result("b1.b", "left", reason="masks of v")]
    monkeypatch.setattr(registered, "registered_sync", lambda *given: given)
    asked = []
    monkeypatch.setattr(
        verification,
        "ServerVerification",
        lambda sync, seconds, only: asked.append((seconds, only)) or SimpleNamespace(run=lambda: tuple(results)),
    )
    task = HudiVerifyOperator(task_id="verify", server="shop", file=str(file))
    run = context(minutes=5, tables=["b1.a"])
    assert task.execute(run)["message"] == "cut 4: 1 tables are equal, 0 differ, 1 were left out"
    assert asked == [(300, {"b1.a"})]
    results += [result(f"b1.c{number}", "differs", differing=number + 1) for number in range(7)]
    with pytest.raises(
        AirflowFailException, match=r"(?s)7 tables differ from shop.*b1\.c0 in 1 rows; .*and 2 more.*resync__shop"
    ):
        task.execute(run)
    assert len(run["ti"].xcoms["return_value"]["tables"]) == 8


@pytest.mark.parametrize(
    ("operator", "form"),
    [(HudiDatabaseOperator, "resum"), (HudiVerifyOperator, "table"), (HudiResyncPlanOperator, "tables")],
)
def test_a_key_that_the_form_lacks_is_refused_before_the_server_is_asked(file, operator, form):
    """Otherwise a run with `resum` would succeed and resume nothing."""
    task = operator(task_id="task", server="shop", file=str(file))
    run = context()
    run["dag_run"].conf = {form: ["b1.t7"]}
    with pytest.raises(AirflowFailException, match=f"The form of the run has '{form}'"):
        task.execute(run)


def test_the_rows_of_a_shard_are_read_again(file, monkeypatch):
    calls = []
    sync = SimpleNamespace(target=lambda name: SimpleNamespace(is_merged=name == "b1.s1"))
    monkeypatch.setattr(registered, "registered_sync", lambda *given: sync)
    report = EqualityReport("shop/*", "bin.000001:4", "2026", missing=1, written=1)
    monkeypatch.setattr(
        shard_resync,
        "ShardResync",
        lambda *given, limit: SimpleNamespace(run=lambda: calls.append((*given, limit)) or report),
    )
    task = HudiResyncOperator(task_id="resync", server="shop", file=str(file))
    assert task.execute(context(table="b1.s1"))["written"] == 1
    assert calls == [(sync, {"b1.s1"}, 0)]
