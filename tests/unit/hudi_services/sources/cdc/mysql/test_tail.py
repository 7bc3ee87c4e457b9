"""Changes as lines of JSON, and for people."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.mysql.tail import as_json, as_text, tailed
from tests.support.binlog import DECLARED, log_end

pytestmark = pytest.mark.process


def lines(server, since, *tables, declared=DECLARED):
    found = tailed("shop", declared, {"AIRFLOW_CONN_SHOP": server.url}, tables, str(since), follow=False)
    return [json.loads(as_json(values)) for values in found]


@pytest.fixture
def start(server):
    server.run(
        "CREATE DATABASE IF NOT EXISTS tail",
        "CREATE OR REPLACE TABLE tail.t (id INT PRIMARY KEY, d DECIMAL(4,2), b BLOB)",
    )
    return log_end(server)


def test_rows_before_and_after_with_values_that_json_lacks(server, start):
    server.run(
        "INSERT INTO tail.t VALUES (1, 1.5, x'00ff')",
        "UPDATE tail.t SET d = NULL",
        "DELETE FROM tail.t",
        "ALTER TABLE tail.t DROP d",
    )
    first, second, third, last = lines(server, start)
    assert (first["table"], first["op"], first["before"], first["after"]) == (
        "tail.t",
        "i",
        None,
        {"id": 1, "d": "1.50", "b": "AP8="},
    )
    assert (second["before"], second["after"]) == (first["after"], {**first["after"], "d": None})
    assert (third["op"], third["after"]) == ("d", None)
    assert last["statement"] == "ALTER TABLE tail.t DROP d"
    assert lines(server, second["position"])[0] == third


def test_lines_for_people_are_single_lines():
    common = {"time": "2026-11-26T01:02:03+00:00", "position": "bin.000001:9"}
    change = {**common, "table": "shop.t", "op": "u", "before": {"id": 1}, "after": {"id": 1, "b": b"\0"}}
    assert as_text(change) == '2026-11-26T01:02:03+00:00  bin.000001:9  u shop.t  {"id": 1} -> {"id": 1, "b": "AA=="}'
    assert (
        as_text({**common, "statement": "DROP\n  TABLE t"}) == "2026-11-26T01:02:03+00:00  bin.000001:9  DROP TABLE t"
    )


def test_only_the_tables_that_are_asked_for(server, start):
    server.run(
        "CREATE OR REPLACE TABLE tail.u (id INT PRIMARY KEY)",
        "INSERT INTO tail.u VALUES (7)",
        "INSERT INTO tail.t (id) VALUES (8)",
    )
    assert [line["after"]["id"] for line in lines(server, start, "tail.u") if "op" in line] == [7]
    others = DECLARED.model_copy(update={"databases": ("crm",)})
    assert [line for line in lines(server, start, declared=others) if "op" in line] == []


def test_wrong_names_and_places_are_errors_that_help(server, start):
    for since, table, kind, words in (
        ("yesterday", "tail.t", ConfigError, "write FILE:OFFSET"),
        (start, "t", ConfigError, "write DATABASE.TABLE"),
        ("bin.999999:4", "tail.t", SourceError, "no longer has the position bin.999999:4"),
    ):
        with pytest.raises(kind, match=words):
            lines(server, since, table)
