"""The tables of `hudi-services sql`: those of a registry, by their names, or of a warehouse."""

from __future__ import annotations

import json

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE
from tests.support.tables import SMALL_BLOOM, batch, content, create

TABLE = """
  - name: {name}
    base_path: {path}
    description: orders of the shop
    hoodie: {{hoodie.write.lock.wait_time_ms: 20000}}
    ingest: {{hoodie: {{hoodie.parquet.max.file.size: 1000000}}}}
    source: {{path: {path}-land, format: csv}}
    keys: {{record_key: id, partition_by: part, ordering: ts}}
"""


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t")
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


@pytest.fixture
def registry(tmp_path, table):
    def write(*names):
        file = tmp_path / "tables.yaml"
        places = [tmp_path / ("u" * number or "t") for number, _ in enumerate(names)]
        file.write_text(
            "tables:" + "".join(TABLE.format(name=name, path=place) for name, place in zip(names, places, strict=True))
        )
        return str(file)

    return write


def sql(*arguments):
    return main(["sql", *map(str, arguments)])


def rows(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_tables_go_by_their_names_in_the_registry(registry, table, capsys):
    file = registry("Orders")
    assert sql("--registry", file, "--json", "-e", "select id, value from ORDERS") == DONE
    assert rows(capsys) == [{"id": "a", "value": 1}]
    assert sql("--registry", file, "--json", "-e", "show tables") == DONE
    assert [row["tableName"] for row in rows(capsys)] == ["orders"]
    assert sql("--registry", file, "-e", "update orders set value = 7; delete from orders where id = 'none'") == DONE
    assert content(table) == {"a": ("p", 1, 7)}


def test_a_registry_is_found_where_every_command_finds_it(registry, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HUDI_REGISTRY", registry("orders"))
    assert sql("--json", "-e", "select id from orders") == DONE
    assert rows(capsys) == [{"id": "a"}]
    monkeypatch.delenv("HUDI_REGISTRY")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert sql("-e", "select 1") == USAGE
    assert "There is no registry" in capsys.readouterr().err


def test_writes_take_the_options_of_the_registry(registry, table, monkeypatch):
    given = []
    write = HoodieTable.write
    monkeypatch.setattr(
        HoodieTable, "write", lambda self, *how, **more: given.append(how[2]) or write(self, *how, **more)
    )
    assert sql("--registry", registry("orders"), "-e", "insert into orders values ('b', 'p', 2, 2)") == DONE
    assert given[0]["hoodie.write.lock.wait_time_ms"] == "20000"
    assert given[0]["hoodie.parquet.max.file.size"] == "1000000"
    assert content(table)["b"] == ("p", 2, 2)


def test_writes_to_a_table_that_a_stream_fills_take_the_options_of_the_stream(tmp_path, table):
    """A row that comes with another partition moves its key there."""
    index = {"hoodie.index.type": "GLOBAL_SIMPLE"}
    entry = {"name": "orders", "base_path": str(table.base_path), "keys": {"record_key": "id", "partition_by": "part"}}
    stream = {"path": str(tmp_path / "source"), "hoodie": index}
    (tmp_path / "tables.yaml").write_text(json.dumps({"tables": [{**entry, "stream": stream}]}))
    assert sql("--registry", tmp_path / "tables.yaml", "-e", "insert into orders values ('a', 'q', 2, 2)") == DONE
    assert content(table) == {"a": ("q", 2, 2)}
    assert table.read().num_rows == 1


@pytest.mark.parametrize(
    "statement",
    [
        "create table more (id string) using hudi tblproperties (primaryKey = 'id')",
        "create table more (id string) using hudi tblproperties (primaryKey = 'id') location '{place}'",
        "create table more using hudi as select * from orders",
        "create table more (id string); insert into more values ('a')",
        "create table more as select 1 as id",
        "drop table orders",
        "alter table orders rename to other",
        "alter table orders set tblproperties ('hoodie.parquet.max.file.size' = '1')",
        "create database more",
        "drop database more cascade",
    ],
)
def test_the_registry_itself_is_never_changed(registry, table, tmp_path, statement, capsys):
    file = registry("orders")
    said = (tmp_path / "tables.yaml").read_text()
    before = sorted(path for path in tmp_path.rglob("*"))
    assert sql("--registry", file, "-e", statement.format(place=tmp_path / "more")) == FAILED
    told = capsys.readouterr().err
    assert "edit that file" in told
    assert "tables.yaml" in told
    assert sorted(path for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "tables.yaml").read_text() == said
    assert content(table) == {"a": ("p", 1, 1)}


def test_names_that_differ_by_their_letters_only_are_told(registry, capsys):
    file = registry("orders", "Orders")
    assert sql("--registry", file, "-e", "select * from orders") == FAILED
    assert "several tables" in capsys.readouterr().err


def test_a_table_with_a_mistake_is_told_and_the_others_are_there(registry, tmp_path, capsys):
    file = registry("orders")
    with open(file, "a", encoding="utf-8") as more:
        more.write("  - name: broken\n")
    assert sql("--registry", file, "-e", "select id from broken") == FAILED
    assert "warning" in capsys.readouterr().err
    assert sql("--registry", file, "--json", "-e", "select id from orders") == DONE
    told = capsys.readouterr()
    assert told.err == ""
    assert json.loads(told.out) == {"id": "a"}


def test_one_catalog(registry, tmp_path, capsys):
    assert sql("--registry", registry("orders"), "--warehouse", tmp_path, "-e", "select 1") == USAGE
    assert "--warehouse contradicts --registry" in capsys.readouterr().err


def test_mistakes_of_tables_that_a_statement_does_not_name_are_left_out(registry, table, tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    registry("orders")
    file.write_text(file.read_text() + "  - {name: broken, base_path: /nowhere, wrong: 1}\n")
    for statement, warning in (
        ("select count(*) from orders", ""),
        ("select count(*) from broken", "broken.wrong"),
        ("show tables", "1 table with mistakes is left out"),
    ):
        sql("--registry", str(file), "-e", statement)
        warned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
        assert len(warned) == bool(warning)
        assert warning in "".join(warned)
