"""A warehouse as a connection of Airflow."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from datetime import date
from decimal import Decimal

import pytest
from airflow.providers.common.sql.hooks.handlers import fetch_all_handler
from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator
from airflow.sdk import Connection
from sqlalchemy import inspect

from hoodie import HoodieTable
from hoodie_airflow.hook import HoodieHook
from tests.support.archives import build_wheel


@pytest.fixture
def hook(tmp_path, monkeypatch):
    connection = Connection(
        conn_id="lake", conn_type="hoodie", host=f"{tmp_path}/lake", extra='{"hoodie.archive.automatic": "false"}'
    )
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", connection.as_json())
    return HoodieHook("lake")


def test_statements_rows_and_parameters(hook, tmp_path):
    hook.run("create table t (id int, n decimal(5, 2), d date) using hudi tblproperties (primaryKey = 'id')")
    rows = [(1, Decimal("1.50"), date(2026, 1, 1)), (2, None, None), (3, Decimal(2), None)]
    hook.insert_rows("t", rows, target_fields=["id", "n", "d"])
    assert len(HoodieTable.open(tmp_path / "lake" / "t").timeline.commits) == 1
    assert hook.get_records("select * from t where id < ? order by id", parameters=[3]) == rows[:2]
    assert hook.get_first("select count(*) from t") == (3,)
    both = ["delete from t where id = 3", "select id from t order by id"]
    assert hook.run(both, handler=fetch_all_handler) == [None, [(1,), (2,)]]
    assert inspect(hook.get_sqlalchemy_engine()).get_table_names() == ["t"]
    assert hook.test_connection() == (True, "Connection successfully tested")


def test_checks_of_columns(hook, monkeypatch):
    hook.run(
        "create table t (id int, n int) using hudi tblproperties (primaryKey = 'id'); insert into t values (1, 1), (2, null)"
    )
    check = SQLColumnCheckOperator(
        task_id="check",
        conn_id="lake",
        table="t",
        column_mapping={"n": {"null_check": {"equal_to": 1}, "max": {"leq_to": 1}}},
    )
    monkeypatch.setattr(check, "get_db_hook", lambda: hook)
    check.execute({})


def test_a_connection_without_a_warehouse_is_told(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", '{"conn_type": "hoodie"}')
    with pytest.raises(ValueError, match="names no warehouse"):
        HoodieHook("lake").get_conn()


@pytest.mark.deep("a wheel with an Airflow of its own: `test_installed.py` has the wheel")
def test_airflow_finds_it_where_the_package_is_installed(tmp_path):
    """By the entry point in the wheel: the connection's type is known to an operator."""
    with zipfile.ZipFile(build_wheel(tmp_path / "dist")) as wheel:
        wheel.extractall(tmp_path / "site")
    code = (
        "from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator as Query\n"
        "sql = 'create table t (id int) using hudi; insert into t values (7); select * from t'\n"
        "print('rows', Query(task_id='q', conn_id='lake', sql=sql, split_statements=True).execute({}))\n"
        "from airflow.providers_manager import ProvidersManager\n"
        "print('form', ProvidersManager().field_behaviours['hoodie']['relabeling'])\n"
        "from sqlalchemy import create_engine\n"
        f"print('tables', create_engine('hoodie:///{tmp_path}/lake').connect().exec_driver_sql('show tables').all())\n"
    )
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "PYTHONPATH": str(tmp_path / "site"),
        "AIRFLOW_CONN_LAKE": f'{{"conn_type": "hoodie", "host": "{tmp_path}/lake"}}',
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "rows [(7,)]" in done.stdout
    assert "form {'host': 'Warehouse (folder or URL)', 'schema': 'Database'}" in done.stdout
    assert "tables [(" in done.stdout
