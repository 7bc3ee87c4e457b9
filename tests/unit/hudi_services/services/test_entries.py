"""The entries of the services: what a table's entry in the registry calls them with."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from hoodie.errors import ConfigError, RegistryError
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Keys, Table
from hudi_services.registry.sections import table_model
from hudi_services.runtime.folders import PROJECT
from hudi_services.services.bootstrap.entry import BOOTSTRAP, Bootstrap
from hudi_services.services.clean.entry import CLEAN
from hudi_services.services.compaction.entry import COMPACT
from hudi_services.services.entries import ENTRIES, entry_named
from hudi_services.sources.ingest.entry import INGEST

ENTRY: dict[str, Any] = {
    "name": "flights",
    "base_path": "/lake/flights",
    "keys": {"record_key": ["carrier", "flight"], "partition_by": "month"},
    "source": {"path": "/land", "format": "csv", "date_pattern": "dt=%Y-%m-%d"},
    "ingest": {"hoodie": {"hoodie.parquet.max.file.size": 1000}},
    "clean": {"hoodie": {"hoodie.clean.commits.retained": 3}},
}
DAY = (datetime(2013, 1, 5, 6, tzinfo=UTC), datetime(2013, 1, 6, 6, tzinfo=UTC))


def table(entry: dict[str, Any] = ENTRY, **more: Any) -> Table:
    return table_model(ENTRIES).model_validate({**entry, **more})


def flags(entry: ServiceEntry[Any], of: Table, mode: str = "", run: str = "manual", **params: Any) -> list[str]:
    interval = DAY if run in ("scheduled", "backfill") else None
    return entry.called_with(of, RunRequest(mode, params, run, interval)).as_flags(of.base_path)


def options(given: list[str]) -> list[str]:
    return [value for flag, value in pairwise(given) if flag == "--hoodie-conf"]


def test_ingest_without_dates_takes_all_unseen_files() -> None:
    given = flags(INGEST, table())
    assert given[:6] == ["--target-base-path", "/lake/flights", "--source-path", "/land", "--source-format", "csv"]
    assert not {"--from", "--to", "--source-date-pattern"} & set(given)
    assert options(given) == [
        "hoodie.table.name=flights",
        "hoodie.table.type=COPY_ON_WRITE",
        "hoodie.datasource.write.recordkey.field=carrier,flight",
        "hoodie.datasource.write.partitionpath.field=month",
        "hoodie.parquet.max.file.size=1000",
        "hoodie.clean.commits.retained=3",  # what the cleaner counts is not archived
    ]


def test_ingest_of_dates() -> None:
    given = flags(INGEST, table(), run="backfill")
    place = given.index("--source-date-pattern")
    assert given[place : place + 6] == [
        "--source-date-pattern",
        "dt=%Y-%m-%d",
        "--from",
        "2013-01-05",
        "--to",
        "2013-01-06",
    ]


def test_files_without_dates_are_not_loaded_by_dates() -> None:
    given = flags(INGEST, table(source={"path": "/land", "format": "csv"}), run="backfill")
    assert not {"--from", "--to", "--source-date-pattern"} & set(given)


def test_a_table_of_others_is_not_ingested() -> None:
    others = table({"name": "t", "base_path": "/t"})
    assert not INGEST.has_dag(others)
    with pytest.raises(RegistryError, match="no source"):
        flags(INGEST, others)


def test_a_range_may_be_open_to_the_past() -> None:
    given = flags(INGEST, table(), to="2013-01-08")
    assert "--from" not in given
    assert given[given.index("--to") + 1] == "2013-01-08"


def test_quarantine() -> None:
    source = {**ENTRY["source"], "quarantine": {"path": "/bad", "max_share": 0.05}}
    given = flags(INGEST, table(source=source))
    assert given[given.index("--quarantine-path") + 1] == "/bad"
    assert given[given.index("--max-bad-share") + 1] == "0.05"


def test_clean_choices_go_before_the_tables_options() -> None:
    own = ["--target-base-path", "/lake/flights", "--hoodie-conf", "hoodie.clean.commits.retained=3"]
    assert flags(CLEAN, table()) == own
    assert flags(CLEAN, table(), policy="as in the registry", retained=None) == own
    assert options(flags(CLEAN, table(), retained=1)) == ["hoodie.clean.commits.retained=1"]
    assert options(flags(CLEAN, table(), policy="KEEP_LATEST_BY_HOURS", retained=5)) == [
        "hoodie.clean.commits.retained=3",
        "hoodie.clean.policy=KEEP_LATEST_BY_HOURS",
        "hoodie.clean.hours.retained=5",
    ]


def test_a_clean_choice_replaces_the_option_under_its_older_name() -> None:
    clean = {
        "hoodie": {"hoodie.cleaner.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.cleaner.fileversions.retained": 9}
    }
    assert options(flags(CLEAN, table(clean=clean), retained=2)) == [
        "hoodie.cleaner.policy=KEEP_LATEST_FILE_VERSIONS",
        "hoodie.clean.fileversions.retained=2",
    ]


def test_compact() -> None:
    logged = table(type="MERGE_ON_READ", compact={"max_plans": 3})
    assert COMPACT.has_dag(logged)
    assert not COMPACT.has_dag(table())
    assert flags(COMPACT, logged, "schedule")[2:] == ["--mode", "schedule"]
    assert flags(COMPACT, logged, "execute")[2:] == ["--mode", "execute", "--max-plans", "3"]


def test_bootstrap() -> None:
    old = table_model(ENTRIES)(
        name="old",
        base_path="/lake/old",
        type="MERGE_ON_READ",
        version=6,
        keys=Keys(record_key=("id",), partition_by=("day",)),
        bootstrap=Bootstrap(source_path="/plain", mode="FULL_RECORD", hoodie={"hoodie.bootstrap.parallelism": "9"}),
        hoodie={"hoodie.datasource.write.hive_style_partitioning": "true"},
    )
    given = flags(BOOTSTRAP, old, "validate")
    pairs = list(pairwise(given))
    assert {("--step", "validate"), ("--mode", "FULL_RECORD"), ("--source-path", "/plain")} <= set(pairs)
    assert "hoodie.table.type=MERGE_ON_READ" in options(given)
    assert "hoodie.write.table.version=6" in options(given)
    assert "hoodie.bootstrap.parallelism=9" in options(given)
    with pytest.raises(RegistryError, match="nothing to bootstrap"):
        flags(BOOTSTRAP, old.model_copy(update={"keys": None}), "validate")
    assert not BOOTSTRAP.has_dag(old.model_copy(update={"bootstrap": None}))


def test_a_service_that_is_not_there_is_named() -> None:
    assert entry_named("clean") is CLEAN
    with pytest.raises(
        ConfigError, match=r"no service 'polish'.*ingest, clean, compact, cluster, archive, sync, bootstrap"
    ):
        entry_named("polish")


def test_names_are_what_people_know() -> None:
    known = {entry.name: entry.command.application for entry in ENTRIES}
    assert known == {
        "ingest": "ingest.py",
        "clean": "cleaner.py",
        "compact": "compactor.py",
        "cluster": "clustering.py",
        "archive": None,
        "sync": None,
        "bootstrap": "bootstrap.py",
        "restore": None,
        "ttl": None,
        "stream": "stream.py",
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_service_has_its_files(entry: ServiceEntry[Any]) -> None:
    """Airflow and spark-submit take files, which name a service and have no logic."""
    dags = (PROJECT / "dags" / f"hudi_{entry.name}.py").read_text()
    assert f'service_dags("{entry.name}"' in dags
    if entry.command.application is not None:
        application = (PROJECT / "spark_apps" / entry.command.application).read_text()
        assert f'spark_application("{entry.name}")' in application
        assert f"spark-submit spark_apps/{entry.command.application} " in application


def test_no_file_is_of_another_service() -> None:
    assert {file.name for file in (PROJECT / "dags").glob("*.py")} == {
        f"hudi_{name}.py"
        for name in ("registry", "doctor", "objectives", "databases", *(entry.name for entry in ENTRIES))
    }
    applications = {entry.command.application for entry in ENTRIES} - {None}
    files = list((PROJECT / "spark_apps").glob("*.py"))
    assert {file.name for file in files} == applications
    bodies = {re.sub(r'spark_application\("\w+"\)', "", file.read_text().partition("\n")[2]) for file in files}
    assert len(bodies) == 1, "applications differ in their service only"


@pytest.mark.process
def test_entries_load_neither_arrow_nor_spark_nor_airflow() -> None:
    """Airflow parses DAG files all the time."""
    code = "import sys, hudi_services.registry.load\n"
    code += "found = {'pyarrow', 'numpy', 'pyspark', 'airflow', 'thrift'} & set(sys.modules)\nassert not found, found"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_help_and_completion_load_no_arrow() -> None:
    """Both answer while a user types."""
    code = "import sys, hudi_services.cli.program\nslow = {'pyarrow', 'numpy', 'rich'} & set(sys.modules)\nassert not slow, slow"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
