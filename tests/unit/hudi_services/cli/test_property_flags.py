"""Properties files as people have them: one for all of Hudi's services, and those of Hudi's documentation."""

from __future__ import annotations

import json

import click
import pytest

from hoodie import HoodieTable
from hoodie.services import inline
from hoodie.services.sync import Sync
from hudi_services.cli.flags import option_flags
from hudi_services.cli.program import cli, main
from tests.support.catalog import MemoryCatalog
from tests.support.cli import CONF, DONE, FAILED, USAGE, deliver, everything, ingest, rows, said

SERVICE_FAILED = 3
HUDI = """
# HoodieStreamer, with its base.properties beside it
include=base.properties
hoodie.datasource.write.recordkey.field=id
hoodie.datasource.write.partitionpath.field=part
hoodie.datasource.write.precombine.field=ts
hoodie.datasource.write.hive_style_partitioning=true
hoodie.datasource.write.operation=upsert
hoodie.table.name=trips
hoodie.streamer.source.dfs.root=%s
hoodie.deltastreamer.source.kafka.value.deserializer.class=io.confluent.kafka.serializers.KafkaAvroDeserializer
bootstrap.servers=localhost:9092
auto.offset.reset=earliest
# the table services
hoodie.cleaner.policy=KEEP_LATEST_COMMITS
hoodie.cleaner.commits.retained=1
hoodie.clean.automatic=true
hoodie.clean.async=true
hoodie.compact.inline=false
hoodie.compact.inline.max.delta.commits=2
hoodie.archive.automatic=true
hoodie.keep.min.commits=20
hoodie.keep.max.commits=30
hoodie.metadata.enable=true
hoodie.write.markers.type=timeline_server_based
hoodie.markers.timeline_server_based.batch.num_threads=20
"""
BASE = """
hoodie.upsert.shuffle.parallelism=2
hoodie.insert.shuffle.parallelism=2
hoodie.delete.shuffle.parallelism=2
hoodie.bulkinsert.shuffle.parallelism=2
hoodie.embed.timeline.server=true
hoodie.filesystem.view.type=EMBEDDED_KV_STORE
hoodie.compact.inline=true
"""


@pytest.fixture
def props(tmp_path, land):
    (tmp_path / "base.properties").write_text(BASE)
    file = tmp_path / "all.properties"
    file.write_text(HUDI % land)
    return file


def test_a_mixed_file_serves_ingest_clean_compact_and_sync(tmp_path, land, props, capsys, caplog):
    path = tmp_path / "trips"
    flags = [f"--target-base-path={path}", f"--props={props}"]
    assert main(["ingest", *flags, "--json"]) == DONE
    loaded = json.loads(capsys.readouterr().out)
    assert [each["service"] for each in loaded["services"]] == ["clean"]
    told = [record.getMessage() for record in caplog.records if "No effect here" in record.getMessage()]
    assert len(told) == len({line.partition(" (")[2] for line in told}), "each reason once"
    text = "\n".join(told)
    for name in (
        "hoodie.metadata.enable",
        "bootstrap.servers",
        "view.type",
    ):
        assert name in text
    assert rows(path) == {"b": ("q", 1, 1)}
    deliver(land, "dt=2024-01-02/y.parquet", [("b", "q", 2, 2)])
    assert main(["ingest", *flags, "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["services"][0]["message"].startswith("0 files removed")
    deliver(land, "dt=2024-01-03/z.parquet", [("b", "q", 3, 3)])
    assert main(["ingest", *flags, "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["services"][0]["instant"] is not None
    assert main(["clean", *flags, "--hoodie-conf=hoodie.index.type=BUCKET"]) == DONE, "the index is a write's"
    assert main(["compact", *flags]) == FAILED
    assert "COPY_ON_WRITE" in said(capsys)
    assert main(["sync", *flags, "--hoodie-conf=hoodie.datasource.hive_sync.enable=false"]) == DONE


def test_the_cleaners_file_of_hudis_documentation(path, tmp_path, capsys):
    """HoodieCleaner --props … --target-base-path …, with these two lines, and with a policy beside them."""
    file = tmp_path / "config.properties"
    file.write_text("hoodie.clean.automatic=true\nhoodie.clean.async=true\n")
    assert main(["clean", f"--target-base-path={path}", f"--props={file}"]) == DONE
    file.write_text(file.read_text() + "hoodie.cleaner.policy=KEEP_LATEST_COMMITS\nhoodie.cleaner.commits.retained=2\n")
    flags = [f"--target-base-path={path}", f"--props=file://{file}", "--json"]
    capsys.readouterr()
    assert main(["clean", *flags]) == DONE
    assert json.loads(capsys.readouterr().out)["service"] == "clean"


def test_hive_options_of_hudis_documentation(tmp_path, land, monkeypatch, capsys):
    catalog = MemoryCatalog()
    monkeypatch.setattr(inline, "SYNC", Sync(catalog))
    file = tmp_path / "hive.properties"
    file.write_text(
        "hoodie.datasource.hive_sync.enable=true\nhoodie.datasource.hive_sync.table=tableName\n"
        "hoodie.datasource.hive_sync.username=username\nhoodie.datasource.hive_sync.password=password\n"
        "hoodie.datasource.hive_sync.jdbcurl=jdbc:hive2://localhost:10000\n"
        "hoodie.datasource.hive_sync.partition_fields=part\n"
        "hoodie.datasource.hive_sync.partition_extractor_class=org.apache.hudi.hive.MultiPartKeysValueExtractor\n"
    )
    assert ingest(tmp_path / "trips", land, f"--props={file}", "--explain") == DONE
    assert "after the commit: sync" in capsys.readouterr().out
    assert catalog.tables == {}
    assert ingest(tmp_path / "trips", land, f"--props={file}") == DONE
    assert list(catalog.tables) == ["default.tablename"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ([], SERVICE_FAILED),
        (["--hoodie-conf=hoodie.datasource.hive_sync.ignore_exceptions=true"], DONE),
        (["--hoodie-conf=hoodie.fail.writes.on.inline.table.service.exception=false"], DONE),
    ],
)
def test_a_failed_sync_costs_no_row_and_is_tried_again(tmp_path, land, more, code, capsys):
    path = tmp_path / "trips"
    result = tmp_path / "result.json"
    dead = [
        "--hoodie-conf=hoodie.datasource.hive_sync.enable=true",
        "--hoodie-conf=hoodie.datasource.hive_sync.jdbcurl=jdbc:hive2://localhost:1",
        f"--result-path={result}",
        *more,
    ]
    assert ingest(path, land, *dead) == code
    assert "sync FAILED: HiveServer2 does not answer" in capsys.readouterr().out
    assert rows(path) == {"b": ("q", 1, 1)}
    loaded = json.loads(result.read_text())
    assert loaded["rows_inserted"] == 1
    assert [(each["service"], each["failed"]) for each in loaded["services"]] == [("sync", True)]
    assert ingest(path, land, *dead) == code, "there is nothing new, and the sync is still to be done"
    assert len(HoodieTable.open(str(path)).timeline) == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("include=all.properties", "includes itself"),
        ("include=gone.properties", "gone.properties is not there"),
        ("hoodie.streamer.source.kafka.topic=trips", "other rows would be loaded"),
        ("hoodie.streamer.transformer.sql=SELECT 1", "rows are loaded as they are"),
        ("parquet.crypto.factory.class=x.Y", "files would not be encrypted"),
        ("hoodie.streamer.source.dfs.root=/elsewhere", "--source-path contradicts"),
        ("hoodie.datasource.write.drop.partition.columns=true", "always in the files"),
        ("hoodie.datasource.write.operation=overwrite", "one of insert, bulk_insert, upsert, delete"),
        ("hoodie.clean.automatic=ture", "give true or false"),
        ("hoodie.clean.automatic.enable=true", "is not known here"),
    ],
)
def test_what_a_file_may_not_say(tmp_path, land, lines, message, capsys):
    file = tmp_path / "all.properties"
    file.write_text(lines)
    before = everything(tmp_path)
    assert ingest(tmp_path / "trips", land, f"--props={file}") == USAGE
    assert message in said(capsys)
    assert everything(tmp_path) == before


def test_a_source_is_named_by_flag_or_option(tmp_path, land, capsys):
    flags = [f"--target-base-path={tmp_path / 'trips'}", *CONF]
    assert main(["ingest", *flags]) == USAGE
    assert "No source to load from" in said(capsys)
    assert main(["ingest", *flags, f"--hoodie-conf=hoodie.deltastreamer.source.dfs.root={land}"]) == DONE


def test_old_names_of_masters_are_explained(path, capsys):
    flags = [f"--target-base-path={path}", "--engine=spark", "--spark-master=yarn-cluster"]
    assert main(["clean", *flags]) == USAGE
    assert "`--master yarn --deploy-mode cluster` to spark-submit" in said(capsys)


def test_a_mistake_names_the_file_that_has_it(props, tmp_path, capsys):
    (tmp_path / "base.properties").write_text("hoodie.cleaner.commits.retained=few\n")
    props.write_text("include=base.properties\n")
    table = HoodieTable.create(tmp_path / "t", {"hoodie.table.name": "t"})
    assert main(["clean", "--target-base-path", table.base_path, "--props", str(props)]) == USAGE
    assert f"'few' in {tmp_path / 'base.properties'}" in capsys.readouterr().err
    flag = ["--hoodie-conf", "hoodie.cleaner.commits.retained=less"]
    assert main(["clean", "--target-base-path", table.base_path, "--props", str(props), *flag]) == USAGE
    assert "'less' in --hoodie-conf" in capsys.readouterr().err


def commands(group):
    for command in group.commands.values():
        yield from commands(command) if isinstance(command, click.Group) else [command]


def test_every_command_has_the_same_flags_of_options():
    """They are built in one place, so that each command takes a properties file and an option in the same way."""
    shared = {flag.name: flag.to_info_dict() for flag in option_flags()}
    with_file = [command for command in commands(cli) if any(flag.name == "props" for flag in command.params)]
    assert len(with_file) > 12
    for command in with_file:
        own = {flag.name: flag.to_info_dict() for flag in command.params if flag.name in shared}
        assert own == shared, command.name
