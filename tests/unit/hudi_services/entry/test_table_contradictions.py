"""An entry that says otherwise than its table is named by each command, with the line of the registry that agrees."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main


@pytest.fixture
def said(tmp_path, capsys):
    """A table `orders`, and what a command says of it with another entry."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("order_id,country,day\n1,DE,a\n2,FR,b\n")

    def run(*command, name="orders", keys="{record_key: order_id, partition_by: day, fixed_partition: true}", more=""):
        entry = f"{{name: {name}, base_path: {tmp_path}/t, keys: {keys}, source: {{path: {tmp_path}/in, format: csv}}{more}}}"
        registry = tmp_path / "tables.yaml"
        registry.write_text(f"tables: [{entry}]\n")
        where = [str(registry)] if command[0] == "registry" else ["--registry", str(registry), "--table", name]
        code = main([*command, *where])
        return code, "".join(capsys.readouterr())

    assert run("ingest")[0] == 0
    return run


@pytest.mark.parametrize(
    ("entry", "key", "line"),
    [
        (
            {"keys": "{record_key: country, partition_by: day, fixed_partition: true}"},
            "keys.record_key",
            "keys: {record_key: [order_id]}",
        ),
        (
            {"keys": "{record_key: order_id, partition_by: country, fixed_partition: true}"},
            "keys.partition_by",
            "keys: {partition_by: [day]}",
        ),
        (
            {"keys": "{record_key: order_id, partition_by: day, ordering: day, fixed_partition: true}"},
            "keys.ordering",
            "keys: {ordering: []}",
        ),
        ({"more": ", type: MERGE_ON_READ"}, "type", "type: COPY_ON_WRITE"),
        ({"more": ", version: 6"}, "version", "version: 9"),
        ({"name": "copied"}, "name", "hoodie: {hoodie.table.name: orders}"),
    ],
)
def test_each_key_is_named_with_its_line(said, entry, key, line):
    code, text = said("ingest", **entry)
    assert (code, f"{key} (hoodie." in text, f"To do: write `{line}` in the entry of the registry" in text) == (
        2,
        True,
        True,
    )
    assert f"so loads are refused: write `{line}`" in said("registry", "check", **entry)[1]
    (table,) = json.loads(said("advise", "--json", **entry)[1])["tables"]
    (advice,) = table["advice"]
    assert (
        advice["text"].startswith(f"The registry has a warning: {key} is"),
        f"write `{line}`" in advice["text"],
    ) == (
        True,
        True,
    )


def test_a_copy_may_have_another_name(said):
    entry = {"name": "copied", "more": ", hoodie: {hoodie.table.name: orders}"}
    assert said("ingest", **entry)[0] == 0
    assert "WARNING" not in said("registry", "check", **entry)[1]


def test_no_table_and_one_without_a_commit_contradict_nothing(said, tmp_path):
    for file in (tmp_path / "t" / ".hoodie" / "timeline").glob("*.*"):
        file.unlink()
    assert "WARNING" not in said("registry", "check", keys="{record_key: country}")[1]
    (tmp_path / "t").rename(tmp_path / "gone")
    assert "WARNING" not in said("registry", "check", keys="{record_key: country}")[1]
