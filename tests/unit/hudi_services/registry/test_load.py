"""The registry file: defaults, environment variables, and every mistake with its line."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from hoodie.errors import RegistryError
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry, read_registry
from hudi_services.registry.mistakes import Mistake

GOOD = """\
pools: {hudi: 2}
defaults:
  pool: hudi
  tags: [hudi]
  clean:
    schedule: "30 2 * * *"
    hoodie: {hoodie.clean.commits.retained: 3}
tables:
  - name: flights
    base_path: ${LAKE}/flights
    keys: {record_key: [carrier, flight], partition_by: month, ordering: arrived_at}
    source: {path: "${LAND}/flights", format: parquet, date_pattern: dt=%Y-%m-%d}
    ingest: {schedule: "0 6 * * *", start: 2013-01-01}
    hoodie: {hoodie.datasource.write.hive_style_partitioning: true}
  - name: others
    base_path: s3://lake/others
    clean:
      schedule: null
      after_ingests: 5
      hoodie: {hoodie.clean.policy: KEEP_LATEST_FILE_VERSIONS}
    tags: []
"""
PLACES = {"LAKE": "/lake", "LAND": "/land"}


def write(folder: Path, text: str) -> Path:
    file = folder / "tables.yaml"
    file.write_text(text)
    return file


def mistakes(folder: Path, text: str) -> list[Mistake]:
    return list(read_registry(write(folder, text), PLACES).mistakes)


def entry(text: str) -> str:
    """A table's entry with more lines; the first of them is line 4."""
    return f"tables:\n  - name: t\n    base_path: /t\n{text}"


def test_defaults_lie_under_each_table(tmp_path: Path) -> None:
    registry = load_registry(write(tmp_path, GOOD), PLACES)
    flights, others = registry.tables
    assert registry.pools == {"hudi": 2}
    assert flights.base_path == "/lake/flights"
    assert flights.source is not None
    assert flights.source.path == "/land/flights"
    assert flights.keys is not None
    assert flights.keys.partition_by == ("month",)
    assert flights.ingest.start == date(2013, 1, 1)
    assert flights.hoodie == {"hoodie.datasource.write.hive_style_partitioning": "true"}
    assert (flights.pool, flights.clean.schedule) == ("hudi", "30 2 * * *")
    assert (others.clean.schedule, others.clean.after_ingests, others.tags) == (None, 5, ())
    assert others.clean.hoodie == {
        "hoodie.clean.commits.retained": "3",
        "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
    }
    assert registry.table("others") is others
    assert registry.table("nothing") is None


def test_entries_cannot_be_changed(tmp_path: Path) -> None:
    table = load_registry(write(tmp_path, GOOD), PLACES).tables[0]
    with pytest.raises(ValidationError):
        table.pool = "other"


def test_only_one_table_is_looked_at_when_asked(tmp_path: Path) -> None:
    text = GOOD + "  - name: broken\n    oops: 1\n"
    reading = read_registry(write(tmp_path, text), PLACES, only="others")
    assert [table.name for table in reading.registry.tables] == ["others"]
    assert reading.mistakes == ()


def test_a_bad_table_does_not_stop_the_others(tmp_path: Path) -> None:
    reading = read_registry(write(tmp_path, GOOD), {"LAKE": "/lake"})
    assert [table.name for table in reading.registry.tables] == ["others"]
    (mistake,) = reading.mistakes
    assert (mistake.line, mistake.key, mistake.table) == (12, "flights.source.path", "flights")
    assert "environment variable LAND is not set" in mistake.message


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        (entry("    bsae_path: /x\n"), 4, "t.bsae_path", "did you mean 'base_path'?"),
        (entry("    keys: {recrd_key: a, record_key: b}\n"), 4, "t.keys.recrd_key", "did you mean 'record_key'?"),
        (entry("    wheels: 4\n"), 4, "t.wheels", "known: name, base_path"),
        (entry("    name: t\n"), 4, "t.name", "is given twice; first on line 2"),
        (entry("    version: 7\n"), 4, "t.version", "input should be 6 or 9 (found 7)"),
        (entry("    clean:\n      schedule: 0 6 * *\n"), 5, "t.clean.schedule", "'0 6 * *' is no cron schedule"),
        (entry("    clean: {schedule: 0 0 30 2 *}\n"), 4, "t.clean.schedule", "never begins"),
        (entry("    clean: {after_ingests: 0}\n"), 4, "t.clean.after_ingests", "greater than or equal to 1"),
        (entry("    source: {format: csv}\n"), 4, "t.source.path", "is missing"),
        (entry("    source: {path: /s, format: csv}\n"), 2, "t.keys", "needs the columns of its record key"),
        (entry("    source: {path: /s, format: xls}\n"), 4, "t.source.format", "'parquet', 'csv' or 'json'"),
        (entry("    source:\n      date_pattern: dt=%Y\n"), 5, "t.source.date_pattern", "%d, %m missing"),
        (entry("    source:\n      date_pattern: '%Y%m%d%M'\n"), 5, "t.source.date_pattern", "uses %M"),
        (entry("    ingest: {schedule: 0 6 * * *}\n"), 4, "t.ingest.schedule", "no effect without a source"),
        (entry("    pool: lake\n"), 4, "t.pool", "'lake' is not declared"),
        (entry("    hoodie: {hoodie.table.type: x}\n"), 4, "t.hoodie.hoodie.table.type", "set by the key 'type'"),
        (
            entry("    clean:\n      hoodie:\n        hoodie.clean.comits.retained: 3\n"),
            6,
            "t.clean.hoodie.hoodie.clean.comits.retained",
            "did you mean 'hoodie.clean.commits.retained'?",
        ),
        (
            entry("    ingest:\n      hoodie: {hoodie.parquet.max.file.size: big}\n"),
            5,
            "t.ingest.hoodie.hoodie.parquet.max.file.size",
            "a whole number",
        ),
        (entry("  - name: t\n    base_path: /u\n"), 4, "t.name", "also the name of 't' on line 2"),
        (entry("  - name: u\n    base_path: //t/\n"), 5, "u.base_path", "also the base_path of 't' on line 3"),
        (entry("  - name: u\n    base_path: /x/../t/.\n"), 5, "u.base_path", "also the base_path of 't' on line 3"),
        (entry("  - name: u\n    base_path: /t/u\n"), 5, "u.base_path", "lies inside the base_path of 't' on line 3"),
        (entry("  - name: u\n    base_path: //\n"), 5, "u.base_path", "has inside it the base_path of 't' on line 3"),
        ("tables:\n  - name: 9x\n    base_path: /t\n", 2, "9x.name", "should match pattern"),
        ("tables:\n  - base_path: /t\n", 2, "tables[0].name", "is missing"),
        ("tables:\n  - 5\n", 2, "tables[0]", "must be a mapping"),
        ("tables: {a: 1}\n", 1, "tables", "must be a list of tables"),
        ("- a\n", 1, "file", "must be a mapping with the sections"),
        ("tabels: []\n", 1, "tabels", "did you mean 'tables'?"),
        ("pools: {a: 0}\n", 1, "pools.a", "greater than or equal to 1"),
        ("doctor: {schedule: x}\n", 1, "doctor.schedule", "'x' is no cron schedule"),
        ("doctor:\n  fails: damage\n", 2, "doctor.fails", "did you mean 'fails_on'?"),
        ("doctor: {fails_on: notes}\n", 1, "doctor.fails_on", "should be 'damage' or 'warning'"),
        ("doctor: {pool: lake}\n", 1, "doctor.pool", "the pool 'lake' is not declared"),
        ("doctor: 5\n", 1, "doctor", "valid dictionary"),
        ("defaults:\n  retires: 1\n" + entry(""), 2, "t.retires", "did you mean 'retries'?"),
        ("tables: [\n", 2, "YAML", "cannot be read"),
        ("tables:\n\t- name: a\n", 2, "YAML", "a tab is before the text of the line: indent by spaces"),
        (
            "tables:\n  - name: t\n    base_path: /x\n    source:\n    format: csv\n",
            5,
            "t.format",
            "is not an option here; indent it deeper than `source:`, which has no value, if it belongs there",
        ),
        (
            "tables:\n  - name: t\n    base_path: /x\n    keys:\n    record_key: [id]\n",
            5,
            "t.record_key",
            "indent it deeper than `keys:`",
        ),
        ("tables: \x07\n", 1, "YAML", "cannot be read"),
    ],
)
def test_a_mistake_names_line_and_key(tmp_path: Path, text: str, line: int, key: str, message: str) -> None:
    found = mistakes(tmp_path, text)
    assert [(mistake.line, mistake.key) for mistake in found if message in mistake.message] == [(line, key)], found


def test_all_mistakes_come_in_one_error(tmp_path: Path) -> None:
    text = entry("    retires: 1\n    clean: {schedule: x, hoodie: {hoodie.clean.polcy: y}}\n    pool: lake\n")
    file = write(tmp_path, text)
    with pytest.raises(RegistryError) as caught:
        load_registry(file, PLACES)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"3 mistakes in the registry {file}. Found: "
    assert [line.split(": ")[0].strip() for line in lines[1:]] == [f"{file}:4", f"{file}:5", f"{file}:5"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"none\.yaml:1: file: cannot be read"):
        load_registry(tmp_path / "none.yaml")


def test_a_registry_without_a_right_names_the_user(tmp_path, monkeypatch):
    def refuse(self, **_options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    (mistake,) = read_registry(tmp_path / "tables.yaml").mistakes
    assert re.search(
        r"cannot be read: user \S+ may not use .*; give it the right, such as by `sudo setfacl", mistake.message
    )


def test_an_empty_file_is_an_empty_registry(tmp_path: Path) -> None:
    assert load_registry(write(tmp_path, "")).tables == ()


def test_a_thousand_tables_are_read_in_seconds(tmp_path: Path) -> None:
    entries = "".join(f"  - name: t{n}\n    base_path: /lake/t{n}\n    keys: {{record_key: id}}\n" for n in range(1000))
    registry = load_registry(write(tmp_path, "tables:\n" + entries))
    assert len(registry.tables) == 1000
    assert all(isinstance(table, Table) for table in registry.tables)


def test_a_pattern_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    text = entry("    keys: {record_key: id}\n    bootstrap: {source_path: /s, mode_regex: '('}\n")
    [mistake] = mistakes(tmp_path, text)
    assert "'(' must be a regular expression" in mistake.message
    assert mistake.line == 5


_DATED = 'keys: {record_key: id}, source: {path: /s, format: csv, date_pattern: "dt=%Y-%m-%d"}'


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        (f"{_DATED}, ingest: {{schedule: 0 6 * * *, start: 2026-01-01, catchup: true}}", []),
        (f"{_DATED}, ingest: {{schedule: 0 6 * * *, catchup: false}}", []),
        (f"{_DATED}, ingest: {{schedule: 0 6 * * *, catchup: true}}", ["needs ingest.start, the first day to load"]),
        (
            f"{_DATED}, ingest: {{start: 2026-01-01, catchup: true}}",
            ["has no effect without a cron schedule in ingest.schedule"],
        ),
        (
            "keys: {record_key: id}, source: {path: /s, format: csv}, "
            "ingest: {schedule: 0 6 * * *, start: 2026-01-01, catchup: true}",
            ["needs source.date_pattern: without it the first run loads the files of all intervals"],
        ),
    ],
)
def test_catching_up_needs_a_first_day_and_dates(tmp_path: Path, rest: str, wanted: list[str]) -> None:
    found = mistakes(tmp_path, f"tables:\n  - {{name: t, base_path: /t, {rest}}}\n")
    assert [(each.key, each.message) for each in found] == [("t.ingest.catchup", message) for message in wanted]


@pytest.mark.parametrize(
    ("section", "key", "message"),
    [
        ("{schedule: '@daily', start: 2027-05-01, end: 2027-01-01}", "end", "is before ingest.start"),
        ("{schedule: '0 0 29 2 *', start: 2029-03-01, end: 2030-03-01}", "end", "no run of '0 0 29 2 *' begins from"),
        ("{schedule: '@daily', start: 9999-12-31}", "start", "less than"),
        ("{schedule: '@daily', start: 0026-01-01}", "start", "greater than or equal to"),
        ("{deadline: P999999999W}", "deadline", "is not a duration"),
        ("{deadline: P99999D}", "deadline", "is longer than 100 years"),
    ],
)
def test_schedules_that_never_run_and_times_without_a_date(
    tmp_path: Path, section: str, key: str, message: str
) -> None:
    """Airflow's DAG processor and scheduler compute with these dates, for all tables."""
    text = "tables:\n- {name: b, base_path: /lake/b}\n- name: a\n  base_path: /lake/a\n  keys: {record_key: id}\n"
    text += f"  source: {{path: /land/a, format: csv}}\n  ingest: {section}\n"
    reading = read_registry(write(tmp_path, text))
    assert [table.name for table in reading.registry.tables] == ["b"]
    (mistake,) = reading.mistakes
    assert mistake.key == f"a.ingest.{key}"
    assert message in mistake.message


@pytest.mark.parametrize("section", ["{schedule: '@daily', start: 2026-01-01, end: 2026-01-01}", "{deadline: P36500D}"])
def test_dates_and_times_at_the_limits(tmp_path: Path, section: str) -> None:
    text = "tables:\n- name: a\n  base_path: /lake/a\n  keys: {record_key: id}\n"
    text += f"  source: {{path: /land/a, format: csv}}\n  ingest: {section}\n"
    assert read_registry(write(tmp_path, text)).mistakes == ()


@pytest.mark.parametrize("text", ["tables: &t\n- *t\n", "tables: " + "[" * 2_000 + "]" * 2_000])
def test_yaml_that_nests_without_end_is_a_mistake(tmp_path: Path, text: str) -> None:
    (mistake,) = read_registry(write(tmp_path, text)).mistakes
    assert "nested too deeply" in mistake.message


@pytest.mark.parametrize(
    "place", ["", " ", " /lake/a", "/lake/a ", "/lake/a\n", "/lake/\0a", "~/a", "~ann/a", "lake/a", "./a", "a:b"]
)
def test_a_path_that_names_another_folder_than_it_seems_to(tmp_path: Path, place: str) -> None:
    reading = read_registry(write(tmp_path, json.dumps({"tables": [{"name": "a", "base_path": place}]})))
    assert reading.registry.tables == ()
    (mistake,) = reading.mistakes
    assert (mistake.key, "is not a whole path" in mistake.message) == ("a.base_path", True)


@pytest.mark.parametrize(
    "key",
    [
        "history.path",
        "history.spool",
        "results",
        "source.path",
        "source.quarantine.path",
        "bootstrap.source_path",
        "stream.path",
    ],
)
def test_no_path_is_another_folder_for_each_process(tmp_path: Path, key: str) -> None:
    sections: dict[str, dict[str, object]] = {
        "source": {"source": {"path": "/land/a", "format": "csv"}, "keys": {"record_key": "id"}},
        "history": {"history": {"path": "/lake/history"}},
        "bootstrap": {"bootstrap": {}, "keys": {"record_key": "id"}},
        "stream": {"stream": {"schedule": "@hourly"}, "keys": {"record_key": "id"}},
    }
    *parents, last = key.split(".")
    for path, mistakes in (("land/a", [f"a.{key}"]), ("/land/b", []), ("s3://land/b", [])):
        entry: dict[str, object] = {"name": "a", "base_path": "/lake/a", **sections.get(key.partition(".")[0], {})}
        inner = entry
        for parent in parents:
            inner[parent] = inner = {**inner.get(parent, {})}
        inner[last] = path
        reading = read_registry(write(tmp_path, json.dumps({"tables": [entry]})))
        assert [mistake.key for mistake in reading.mistakes] == mistakes, reading.mistakes
