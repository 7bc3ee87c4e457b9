"""`--table NAME` in place of a path and long options: what the registry says."""

from __future__ import annotations

import json
import os

import pytest

from hoodie import HoodieTable
from hoodie.config.keys.clustering import MAX_COMMITS
from hoodie.config.keys.ttl import DAYS_RETAINED
from hoodie.engine import LocalEngine
from hudi_services.cli.program import cli, main, program
from hudi_services.cli.registry_options import registered, spark_settings
from hudi_services.entry.dag import RunRequest
from hudi_services.registry.lookup import table_named
from hudi_services.services.entries import ENTRIES
from tests.support.cli import DONE, USAGE, deliver, everything, said
from tests.support.new_service import WITH_EXPIRE
from tests.support.tables import SMALL_BLOOM, batch, create

TEXT = """\
tables:
  - name: trips
    base_path: {folder}/trips
    keys: {{record_key: id, partition_by: part, ordering: ts}}
    source: {{path: {folder}/land, format: parquet, date_pattern: dt=%Y-%m-%d, quarantine: {{max_share: 0.25}}}}
    clean: {{after_ingests: 3, hoodie: {{hoodie.cleaner.commits.retained: 2}}}}
    hoodie: {{hoodie.datasource.write.hive_style_partitioning: true}}
  - name: logged
    base_path: {folder}/logged
    type: MERGE_ON_READ
    keys: {{record_key: id, partition_by: part, ordering: ts}}
    source: {{path: {folder}/land, format: parquet}}
    compact: {{max_plans: 3}}
    hoodie: {{hoodie.datasource.write.hive_style_partitioning: true}}
  - name: old
    base_path: {folder}/old
    keys: {{record_key: id, partition_by: part, ordering: ts}}
    source: {{path: {folder}/land, format: parquet}}
    bootstrap: {{source_path: {folder}/plain, mode: FULL_RECORD}}
  - name: odd
    base_pth: /x
"""


@pytest.fixture
def registry(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(TEXT.format(folder=tmp_path))
    return file


@pytest.fixture
def call(registry, land, monkeypatch):
    monkeypatch.setenv("HUDI_REGISTRY", str(registry))
    return lambda *arguments: main(list(map(str, arguments)))


def test_a_table_is_loaded_cleaned_and_looked_at_by_its_name(tmp_path, land, call, capsys):
    assert call("ingest", "--table", "trips") == DONE
    deliver(land, "dt=2024-01-02/y.parquet", [("b", "q", 2, 2)])
    assert call("ingest", "--table=trips") == DONE
    assert call("clean", "--table=trips", "--explain") == DONE
    assert "2 commits on the timeline, and 2 are retained" in capsys.readouterr().out
    table = HoodieTable.open(str(tmp_path / "trips"), engine=LocalEngine(1))
    assert table.properties.partition_fields == ("part",)
    assert [row["ts"] for row in table.read().to_pylist()] == [2]
    assert call("unlock", "--table=trips") == DONE
    assert "not locked" in capsys.readouterr().out


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES if entry.command.typed])
def test_flags_and_options_are_those_of_the_dag(registry, name):
    """Without what only a step of a DAG says: its mode."""
    entry = next(entry for entry in ENTRIES if entry.name == name)
    table = table_named({"compact": "logged", "bootstrap": "old"}.get(name, "trips"), registry)
    if name == "sync":
        table = table.model_copy(
            update={"sync": entry.section.kind(hoodie={"hoodie.datasource.hive_sync.mode": "hms"})}
        )
    if name == "archive":
        table = table.model_copy(update={"archive": entry.section.kind(hoodie={"hoodie.keep.min.commits": "21"})})
    if name == "ttl":
        table = table.model_copy(update={"ttl": entry.section.kind(hoodie={DAYS_RETAINED.name: "9"})})
    if name == "stream":
        table = table.model_copy(update={"stream": entry.section.kind(history="insert")})
    if name == "cluster":
        table = table.model_copy(update={"cluster": entry.section.kind(hoodie={MAX_COMMITS.name: "9"})})
    mode = {"compact": "execute", "cluster": "execute", "bootstrap": "validate"}.get(name, "")
    dag = entry.called_with(table, RunRequest(mode))
    found = registered(entry, table, {})
    assert found.options == dag.options
    flat = [
        word
        for flag in entry.command.flags
        if flag.name in found.flags
        for word in (flag.opts[0], found.flags[flag.name])
    ]
    wanted = list(zip(dag.flags[::2], dag.flags[1::2], strict=True))
    assert list(zip(flat[::2], flat[1::2], strict=True)) == sorted(
        (pair for pair in wanted if pair[1] != mode), key=lambda pair: flat.index(pair[0])
    )


def test_flags_that_are_typed_win(tmp_path, land, call, capsys):
    other = tmp_path / "other"
    deliver(other, "z.parquet", [("z", "q", 1, 1), ("y", "q", 1, 1)])
    assert call("ingest", "--table=trips", "--source-path", other, "--operation=insert", "--json") == DONE
    assert json.loads(capsys.readouterr().out)["rows_inserted"] == 2
    assert call("clean", "--table=trips", "--hoodie-conf=hoodie.clean.commits.retained=1", "--explain") == DONE
    assert "1 is retained" in capsys.readouterr().out, "also over the registry's older name of the option"


def test_dates_are_those_of_the_tables_files(tmp_path, land, call, capsys):
    """`--from` alone is enough: the registry knows how paths carry their dates."""
    deliver(land, "dt=2024-02-01/y.parquet", [("c", "q", 2, 2)])
    assert call("ingest", "--table=trips", "--from=2024-01-15", "--explain", "--json") == DONE
    assert [file["path"] for file in json.loads(capsys.readouterr().out)["files"]] == ["dt=2024-02-01/y.parquet"]
    assert call("ingest", "--table=trips", "--from=2024-01-15", "--to=2024-01-15") == USAGE
    assert "no day lies between" in said(capsys)


def test_all_steps_of_a_service_are_one_call(tmp_path, call, capsys):
    assert call("ingest", "--table=logged") == DONE
    assert call("compact", "--table=logged", "--explain") == DONE
    assert call("compact", "--table=logged", "--force") == DONE
    assert "executed" in capsys.readouterr().out


def test_there_is_nothing_to_do_before_the_first_load(tmp_path, call, capsys):
    before = everything(tmp_path)
    for more in ([], ["--explain"]):
        assert call("clean", "--table=trips", *more) == DONE
        assert "clean: nothing was ingested yet: there is no table at " in capsys.readouterr().out
    assert call("clean", "--table=trips", "--json") == DONE
    assert json.loads(capsys.readouterr().out)["instant"] is None
    assert everything(tmp_path) == before
    for more in (["--yes", "0123456789ab"], ["--plan", "0123456789ab"]):
        assert call("clean", "--table=trips", *more) == 1
        assert "TableNotFoundError" in said(capsys)
    assert call("clean", "--target-base-path", tmp_path / "trips") == 1, "a path may be misspelt"


def test_a_table_that_is_to_be_bootstrapped_is_not_begun_by_an_ingestion(tmp_path, call, land, capsys):
    before = everything(tmp_path)
    assert call("ingest", "--table=old") == USAGE
    assert "`hudi-services bootstrap --table old`" in said(capsys)
    assert everything(tmp_path) == before
    deliver(tmp_path / "plain", "part=p/x.parquet", [("a", "p", 1, 1)])
    assert (
        call("bootstrap", "--table=old", "--hoodie-conf=hoodie.datasource.write.hive_style_partitioning=true") == DONE
    )
    assert call("ingest", "--table=old", "--hoodie-conf=hoodie.datasource.write.hive_style_partitioning=true") == DONE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table=trip"], "name one of trips"),
        (["--table=zzzz"], "name one of logged, odd, old, trips"),
        (["--table=odd"], "base_pth: is not an option; did you mean 'base_path'?"),
        (["--table=trips", "--registry=/nowhere.yaml"], "/nowhere.yaml of --registry is not there"),
        (["--table=trips", "--target-base-path=/elsewhere"], "--target-base-path contradicts --table"),
        (["--registry=tables.yaml"], "--registry has no effect without --table"),
        ([], "'--table' or '--target-base-path'"),
    ],
)
@pytest.mark.parametrize("command", [["clean"], ["show", "timeline"], ["unlock"]])
def test_what_cannot_be(call, capsys, command, arguments, message):
    assert call(*command, *arguments) in (USAGE, 1)
    assert message in said(capsys)


def test_a_service_that_the_table_does_not_have(call, capsys):
    assert call("sync", "--table=trips") == USAGE
    assert "give its entry in the registry a section `sync`" in said(capsys)


@pytest.mark.parametrize("service", ["cluster", "archive"])
def test_a_service_that_advice_proposes_needs_no_section(tmp_path, call, capsys, service):
    create(tmp_path / "trips").write(batch([("a", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    assert call(service, "--table=trips", "--explain") == DONE
    assert call(service, "--table=trips") == DONE


def test_help_needs_no_table(call, capsys):
    assert call("clean", "--table=trip", "--help") == DONE
    assert "Usage: hudi-services clean" in capsys.readouterr().out


def test_the_same_place_twice_is_no_contradiction(call, tmp_path, land):
    assert call("ingest", "--table=trips", f"--target-base-path={tmp_path}//trips/", "--explain") == DONE


def test_the_registry_is_the_flags_else_the_variables_else_the_one_here(tmp_path, land, registry, monkeypatch, capsys):
    monkeypatch.delenv("HUDI_REGISTRY", raising=False)
    monkeypatch.chdir(land)
    assert main(["ingest", "--table=trips", "--explain"]) == USAGE
    assert "pass --registry FILE, or set HUDI_REGISTRY" in said(capsys)
    assert main(["ingest", "--table=trips", "--explain", f"--registry={registry}"]) == DONE
    monkeypatch.chdir(tmp_path)
    assert main(["ingest", "--table=trips", "--explain"]) == DONE
    monkeypatch.setenv("HUDI_REGISTRY", str(tmp_path / "gone.yaml"))
    assert main(["ingest", "--table=trips", "--explain"]) == USAGE
    assert "gone.yaml of HUDI_REGISTRY is not there" in said(capsys)


def test_a_new_service_is_called_by_name_without_more(tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    file.write_text("tables:\n  - {name: t, base_path: /t, expire: {days: 9}}\n")
    group = program(WITH_EXPIRE)
    assert main(["expire", "--table=t", f"--registry={file}", "--explain", "--json"], group) == DONE
    assert json.loads(capsys.readouterr().out)["days"] == 9
    assert main(["expire", "--table=t", f"--registry={file}", "--days=4", "--explain", "--json"], group) == DONE
    assert json.loads(capsys.readouterr().out)["days"] == 4


def test_names_of_tables_are_completed(registry, monkeypatch):
    from click.shell_completion import ShellComplete

    monkeypatch.setenv("HUDI_REGISTRY", str(registry))
    complete = ShellComplete(cli, {}, "hudi-services", "_HUDI_SERVICES_COMPLETE").get_completions
    assert [item.value for item in complete(["clean", "--table"], "o")] == ["odd", "old"]
    assert "hoodie.clean.policy=" in [item.value for item in complete(["clean", "--hoodie-conf"], "hoodie.clean.")]
    monkeypatch.setitem(os.environ, "HUDI_REGISTRY", "/nowhere")
    assert complete(["clean", "--table"], "o") == []


def test_spark_gets_the_registrys_settings_of_the_service(registry):
    table = table_named("trips", registry)
    clean = next(entry for entry in ENTRIES if entry.name == "clean")
    section = clean.section.kind(spark={"spark.executor.memory": "2g"})
    assert spark_settings(clean, table.model_copy(update={"clean": section})) == {"spark.executor.memory": "2g"}
    assert spark_settings(clean, None) == {}
