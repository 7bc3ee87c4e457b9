"""A table's entry as flags."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any

import pytest

from hoodie.errors import RegistryError
from hudi_services.registry import (
    Bootstrap,
    DateRange,
    Keys,
    Table,
    bootstrap_arguments,
    clean_arguments,
    ingest_arguments,
)

ENTRY: dict[str, Any] = {
    "name": "flights",
    "base_path": "/lake/flights",
    "keys": {"record_key": ["carrier", "flight"], "partition_by": "month"},
    "source": {"path": "/land", "format": "csv", "date_pattern": "dt=%Y-%m-%d"},
    "ingest": {"hoodie": {"hoodie.parquet.max.file.size": 1000}},
    "clean": {"hoodie": {"hoodie.clean.commits.retained": 3}},
}
RANGE = DateRange(date(2013, 1, 5), date(2013, 1, 8))


def options(flags: list[str]) -> list[str]:
    return [value for flag, value in pairwise(flags) if flag == "--hoodie-conf"]


def test_ingest_without_dates_takes_all_unseen_files() -> None:
    flags = ingest_arguments(Table.model_validate(ENTRY), None)
    assert flags[:6] == ["--target-base-path", "/lake/flights", "--source-path", "/land", "--source-format", "csv"]
    assert "--from" not in flags
    assert options(flags) == [
        "hoodie.table.name=flights",
        "hoodie.table.type=COPY_ON_WRITE",
        "hoodie.datasource.write.recordkey.field=carrier,flight",
        "hoodie.datasource.write.partitionpath.field=month",
        "hoodie.parquet.max.file.size=1000",
    ]


def test_ingest_of_dates() -> None:
    flags = ingest_arguments(Table.model_validate(ENTRY), RANGE)
    place = flags.index("--source-date-pattern")
    assert flags[place : place + 6] == [
        "--source-date-pattern",
        "dt=%Y-%m-%d",
        "--from",
        "2013-01-05",
        "--to",
        "2013-01-08",
    ]


def test_dates_need_a_date_pattern() -> None:
    table = Table.model_validate({**ENTRY, "source": {"path": "/land", "format": "csv"}})
    with pytest.raises(RegistryError, match="cannot be loaded by dates"):
        ingest_arguments(table, RANGE)


def test_a_table_of_others_is_not_ingested() -> None:
    with pytest.raises(RegistryError, match="no source"):
        ingest_arguments(Table(name="t", base_path="/t"), None)


def test_a_range_may_be_open_to_the_past() -> None:
    flags = ingest_arguments(Table.model_validate(ENTRY), DateRange(stop=date(2013, 1, 8)))
    assert "--from" not in flags
    assert flags[flags.index("--to") + 1] == "2013-01-08"


def test_quarantine() -> None:
    source = {**ENTRY["source"], "quarantine": {"path": "/bad", "max_share": 0.05}}
    flags = ingest_arguments(Table.model_validate({**ENTRY, "source": source}), None)
    assert flags[flags.index("--quarantine-path") + 1] == "/bad"
    assert flags[flags.index("--max-bad-share") + 1] == "0.05"


def test_clean_choices_go_before_the_tables_options() -> None:
    table = Table.model_validate(ENTRY)
    own = ["--target-base-path", "/lake/flights", "--hoodie-conf", "hoodie.clean.commits.retained=3"]
    assert clean_arguments(table) == own
    assert options(clean_arguments(table, retained=1)) == ["hoodie.clean.commits.retained=1"]
    assert options(clean_arguments(table, "KEEP_LATEST_BY_HOURS", 5)) == [
        "hoodie.clean.commits.retained=3",
        "hoodie.clean.policy=KEEP_LATEST_BY_HOURS",
        "hoodie.clean.hours.retained=5",
    ]


def test_a_clean_choice_replaces_the_option_under_its_older_name() -> None:
    clean = {
        "hoodie": {"hoodie.cleaner.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.cleaner.fileversions.retained": 9}
    }
    table = Table.model_validate({**ENTRY, "clean": clean})
    assert options(clean_arguments(table, retained=2)) == [
        "hoodie.cleaner.policy=KEEP_LATEST_FILE_VERSIONS",
        "hoodie.clean.fileversions.retained=2",
    ]


def test_bootstrap() -> None:
    table = Table(
        name="old",
        base_path="/lake/old",
        type="MERGE_ON_READ",
        version=6,
        keys=Keys(record_key=("id",), partition_by=("day",)),
        bootstrap=Bootstrap(source_path="/plain", mode="FULL_RECORD", hoodie={"hoodie.bootstrap.parallelism": "9"}),
        hoodie={"hoodie.datasource.write.hive_style_partitioning": "true"},
    )
    flags = bootstrap_arguments(table, "validate")
    pairs = list(pairwise(flags))
    assert {("--step", "validate"), ("--mode", "FULL_RECORD"), ("--source-path", "/plain")} <= set(pairs)
    given = [after for before, after in pairs if before == "--hoodie-conf"]
    assert "hoodie.table.type=MERGE_ON_READ" in given
    assert "hoodie.write.table.version=6" in given
    assert "hoodie.bootstrap.parallelism=9" in given
    with pytest.raises(RegistryError, match="nothing to bootstrap"):
        bootstrap_arguments(table.model_copy(update={"bootstrap": None}), "validate")
