"""Rows of tables in the pages: who sees them, which, and what becomes of a look that takes too much."""

from __future__ import annotations

import io
import json
import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.models.dag import DagModel
from fastapi import FastAPI

from hoodie import HoodieTable
from hoodie_airflow.pages import subprocess_query as aside
from hoodie_airflow.pages.access import Rights
from hudi_services.cli.process_context import Surroundings
from hudi_services.cli.program import main
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from tests.support.airflow_pages import signed_in
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.process

ROWS, COMPARE = "/hudi/api/tables/orders/rows", "/hudi/api/tables/orders/compare"
MARKUP = "<img src=x>"


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    table = create(tmp_path / "orders")
    table.write(batch([("a", "p", 1, 1), (MARKUP, "q", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 7), ("c", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


@pytest.fixture
def say(tmp_path: Path, table: HoodieTable, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Writes the registry, with what it says of pages."""
    file = tmp_path / "tables.yaml"
    monkeypatch.setenv("HUDI_REGISTRY", str(file))

    def write(**pages: Any) -> None:
        file.write_text(json.dumps({"pages": pages, "tables": [{"name": "orders", "base_path": table.base_path}]}))

    write(rows=True)
    return write


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of a look runs in this process. The tests without this fixture start the process, which takes a second."""

    def run(command: Sequence[str], _seconds: float) -> aside._Ended:
        module = command.index("hudi_services.cli.child_process")
        with redirect_stdout(printed := io.StringIO()):
            code = main(list(command[module + 3 :]), surroundings=Surroundings(marked=True, spark=False))
        return aside._Ended(code, printed.getvalue().encode(), "", late=False)

    monkeypatch.setattr(aside, "_run", run)


def test_rows_are_shown_where_the_registry_says_so(server: FastAPI, table: HoodieTable, say: Any) -> None:
    client = signed_in(server, "viewer")
    found = client.get(ROWS).json()
    assert sorted(found["rows"]) == [[MARKUP, "q", 1, 1], ["a", "p", 2, 7], ["c", "p", 1, 1]]
    assert client.get("/hudi/api/tables/orders").json()["shows_rows"] is True
    say(rows=False)
    refused = client.get(ROWS)
    assert (refused.status_code, "pages: {rows: true}" in refused.json()["detail"]) == (403, True)
    assert client.get("/hudi/api/tables/orders").json()["shows_rows"] is False


@pytest.mark.usefixtures("at_once")
def test_rows_of_a_moment_are_shown(server: FastAPI, table: HoodieTable, say: Any) -> None:
    first = str(table.timeline.commits[0].time)
    found = signed_in(server, "viewer").get(ROWS, params={"as_of": first}).json()
    assert sorted(found["rows"]) == [[MARKUP, "q", 1, 1], ["a", "p", 1, 1]]


@pytest.mark.usefixtures("at_once")
def test_nested_values_are_text(server: FastAPI, tmp_path: Path, say: Any, table: HoodieTable) -> None:
    """A browser shows [object Object] for others, and rounds long numbers."""
    shutil.rmtree(table.base_path)
    nested = create(tmp_path / "orders")
    rows = batch([("a", "p", 1, 1)]).append_column("more", pa.array([{"n": 2**53 + 1, "tags": ["x", "y,z"]}]))
    nested.write(rows, "upsert", SMALL_BLOOM)
    (row,) = signed_in(server, "viewer").get(ROWS).json()["rows"]
    assert row[-1] == '{"n": 9007199254740993, "tags": ["x", "y,z"]}'


@pytest.mark.parametrize(
    ("query", "told"),
    [("?asof=20260101000000", "asof' is not known: known are as_of, partition"), ("?partition=a&partition=b", "twice")],
)
def test_other_query_parameters_are_refused(server: FastAPI, say: Any, query: str, told: str) -> None:
    answer = signed_in(server, "viewer").get(f"{ROWS}{query}")
    assert (answer.status_code, told in answer.json()["detail"]) == (400, True), answer.json()


@pytest.mark.usefixtures("at_once")
def test_what_is_hidden_is_nowhere(server: FastAPI, table: HoodieTable, say: Any) -> None:
    say(rows=True, hidden=["ID", "value.part"])
    client = signed_in(server, "viewer")
    found = client.get(ROWS, params={"partition": "part=p"}).json()
    assert [each["name"] for each in found["columns"]] == ["part", "ts"]
    compared = client.get(COMPARE, params={"first": str(table.timeline.commits[0].time)}).json()
    assert len(compared["rows"]) == 2
    for row in compared["rows"]:
        assert row["key"] is None
        for side in ("before", "after"):
            assert not {"id", "value"} & set(row[side] or ())
    say(rows=True, hidden=["value"])
    compared = client.get(COMPARE, params={"first": str(table.timeline.commits[0].time)}).json()
    assert {row["key"] for row in compared["rows"]} == {"a", "c"}, "keys are made of no hidden column"


@pytest.mark.usefixtures("at_once")
def test_what_changed_is_told_by_partition_and_row(server: FastAPI, table: HoodieTable, say: Any) -> None:
    client = signed_in(server, "viewer")
    asked = {"first": str(table.timeline.commits[0].time), "last": str(table.timeline.commits[1].time)}
    found = client.get(COMPARE, params=asked).json()
    (partition,) = found["partitions"]
    assert (partition["partition"], partition["rows_inserted"], partition["rows_updated"]) == ("part=p", 1, 1)
    rows = {
        row["key"]: (row["change"], row["before"] and row["before"]["value"], row["after"]["value"])
        for row in found["rows"]
    }
    assert rows == {"a": ("updated", 1, 7), "c": ("inserted", None, 1)}
    say(rows=False)
    found = client.get(COMPARE, params=asked).json()
    assert (found["rows"], len(found["partitions"])) == ([], 1)
    assert "pages: {rows: true}" in found["rows_refused"]


@pytest.mark.usefixtures("at_once")
def test_changes_of_commits_are_counted_also_where_rows_are_hidden(server: FastAPI, say: Any) -> None:
    say(rows=False)
    found = signed_in(server, "viewer").get("/hudi/api/tables/orders/changes").json()
    counts = [(row["inserted"], row["updated"], row["deleted"]) for row in found["commits"]]
    assert counts == [(1, 1, 0), (2, 0, 0)]


@pytest.mark.usefixtures("at_once")
def test_what_commits_say_is_shown_where_rows_cannot_be_compared(server: FastAPI, tmp_path: Path, say: Any) -> None:
    shutil.rmtree(tmp_path / "orders")
    bare = create(tmp_path / "orders", **{"hoodie.populate.meta.fields": "false"})
    bare.write(batch([("a", "p", 1, 1)]), "upsert", {})
    client = signed_in(server, "viewer")
    found = client.get(COMPARE, params={"first": "20200101000000"}).json()
    assert (found["rows"], found["rows_inserted"], len(found["partitions"])) == ([], 1, 1)
    assert "virtual keys" in found["rows_refused"]
    swapped = client.get(COMPARE, params={"first": "20260101000000", "last": "20200101000000"})
    assert (swapped.status_code, "give the earlier instant first" in swapped.json()["detail"]) == (422, True)


def test_who_may_not_read_what_tasks_leave_sees_no_rows(
    server: FastAPI, say: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = get_auth_manager()
    real = manager.is_authorized_dag

    def no_xcoms(**asked: Any) -> bool:
        return asked.get("access_entity") is not DagAccessEntity.XCOM and real(**asked)

    monkeypatch.setattr(manager, "is_authorized_dag", no_xcoms)
    client = signed_in(server, "viewer")
    assert client.get(ROWS).status_code == 403
    assert "XComs" in client.get(ROWS).json()["detail"]
    monkeypatch.setattr(manager, "filter_authorized_dag_ids", lambda **_: set())
    assert client.get(ROWS).status_code == 404


def test_rights_of_teams_are_asked_by_team(server: FastAPI, say: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    manager, real = get_auth_manager(), get_auth_manager().is_authorized_dag

    def of_others(*, details: Any = None, access_entity: Any = None, **asked: Any) -> bool:
        if access_entity is DagAccessEntity.XCOM and details.team_name == "others":
            return False
        return real(details=details, access_entity=access_entity, **asked)

    monkeypatch.setattr(manager, "is_authorized_dag", of_others)
    client = signed_in(server, "viewer")
    assert client.get("/hudi/api/tables/orders").json()["shows_rows"] is True
    monkeypatch.setattr(DagModel, "get_team_name", lambda dag: "others")
    assert client.get("/hudi/api/tables/orders").json()["shows_rows"] is False
    assert client.get(ROWS).status_code == 403


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ({"as_of": "20000101000000"}, 422, "cannot be read as of"),
        ({"as_of": "now; rm"}, 422, ""),
        ({"as_of": "--help"}, 422, ""),
        ({"as_of": "٢٠٢٦٠١٠١٠٠٠٠٠٠"}, 422, ""),
        ({"partition": "a\0b"}, 422, ""),
        ({"partition": "x" * 5000}, 422, ""),
    ],
)
@pytest.mark.usefixtures("at_once")
def test_bad_questions_have_clear_answers(
    server: FastAPI, say: Any, asked: dict[str, str], code: int, said: str
) -> None:
    answer = signed_in(server, "viewer").get(ROWS, params=asked)
    assert answer.status_code == code
    assert said in str(answer.json()["detail"])


@pytest.mark.usefixtures("at_once")
def test_a_partition_that_is_none_has_no_rows(server: FastAPI, say: Any) -> None:
    client = signed_in(server, "viewer")
    for name in ("../../etc", "--registry=/etc/passwd", MARKUP):
        answer = client.get(ROWS, params={"partition": name})
        assert (answer.status_code, answer.json().get("rows", [])) in ((200, []), (422, [])), answer.text


def test_too_much_is_refused(server: FastAPI, say: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(server, "viewer")
    monkeypatch.setattr(aside, "_BYTES", 10)
    assert "too large for a page" in client.get(ROWS).json()["detail"]
    monkeypatch.setattr(aside, "SECONDS", 0.05)
    answer = client.get(ROWS)
    assert (answer.status_code, "hudi-services show rows" in answer.json()["detail"]) == (504, True)
    for _ in range(2):
        assert aside._AT_ONCE.acquire(blocking=False), "the others gave their turns back"
    assert client.get(ROWS).status_code == 429
    for _ in range(2):
        aside._AT_ONCE.release()
    monkeypatch.setattr(aside, "SECONDS", 60)
    monkeypatch.setattr(aside, "MEMORY", 1 << 20)
    answer = client.get(ROWS)
    assert (answer.status_code, "ended with code" in answer.json()["detail"]) == (502, True)


def test_a_process_that_goes_on_printing_is_ended(
    server: FastAPI, say: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(server, "viewer")
    program = tmp_path / "prints"
    program.write_text("#!/bin/sh\nexec yes")
    program.chmod(0o755)
    monkeypatch.setattr(aside.sys, "executable", str(program))
    monkeypatch.setattr(aside, "SECONDS", 5)
    answer = client.get(ROWS)
    assert (answer.status_code, "too large for a page" in answer.json()["detail"]) == (422, True)


@pytest.mark.usefixtures("at_once")
def test_a_command_that_is_told_is_safe_to_copy(
    server: FastAPI, say: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(aside, "_BYTES", 10)
    with caplog.at_level(logging.INFO, logger=aside.__name__):
        said = signed_in(server, "viewer").get(ROWS, params={"partition": "$(id)\nroot"}).json()["detail"]
    assert "'--partition=$(id)\nroot'" in said
    [told] = [each.getMessage() for each in caplog.records if each.name == aside.__name__]
    assert ("$(id)" in told, "\n" in told) == (True, False)


@pytest.mark.usefixtures("at_once")
def test_what_is_shown_is_kept_nowhere(server: FastAPI, say: Any) -> None:
    for address in (ROWS, "/hudi/api/fleet", "/hudi/api/tables/orders"):
        assert signed_in(server, "viewer").get(address).headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("at_once")
def test_a_table_that_is_gone_says_so(server: FastAPI, table: HoodieTable, say: Any) -> None:
    Path(table.base_path, ".hoodie").rename(Path(table.base_path, "gone"))
    answer = signed_in(server, "viewer").get(ROWS)
    assert (answer.status_code, "is not a Hudi table" in answer.json()["detail"]) == (422, True)


def test_quarantined_rows_are_shown_to_who_may_see_rows_and_never_beside_hidden_columns(
    server: FastAPI, table: HoodieTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: None
) -> None:
    registry = tmp_path / "tables.yaml"
    monkeypatch.setenv("HUDI_REGISTRY", str(registry))
    source = {"path": str(tmp_path / "land"), "format": "csv"}
    entry = {"name": "orders", "type": "COPY_ON_WRITE", "base_path": table.base_path, "source": source}
    entry |= {"keys": {"record_key": "id", "partition_by": "part"}, "ingest": {}, "clean": {}}

    def say(**pages: Any) -> None:
        registry.write_text(json.dumps({"pages": pages, "tables": [entry]}))

    writer = QuarantineWriter(f"{table.base_path}.quarantine", str(table.base_path), "20260101")
    with writer.open(0) as bad:
        bad.add_unread(f"{tmp_path}/land/day/a.csv", {"id": MARKUP}, "line 7: no number")
    writer.finish(keep_rows=True)
    path = "/hudi/api/tables/orders/quarantine"
    say(rows=True)
    found = signed_in(server, "admin").get(path).json()
    assert [(row["reason"], row["row"]) for row in found["rows"]] == [("line 7: no number", json.dumps({"id": MARKUP}))]
    assert found["again"] is None, "Airflow knows no DAG of its ingestion"
    monkeypatch.setattr(Rights, "starts", lambda _self, _table: {"hudi_ingest__orders"})
    assert signed_in(server, "admin").get(path).json()["again"] == {
        "dag": "hudi_ingest__orders",
        "files": ["day/a.csv"],
    }
    assert signed_in(server, "admin").get("/hudi/api/tables/orders").json()["shows_quarantine"]
    for pages in ({}, {"rows": True, "hidden": ["value"]}):
        say(**pages)
        assert signed_in(server, "admin").get(path).status_code == 403
        assert not signed_in(server, "admin").get("/hudi/api/tables/orders").json()["shows_quarantine"]
