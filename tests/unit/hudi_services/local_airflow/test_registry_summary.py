"""The summary of a registry when Airflow starts on it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from hudi_services.local_airflow.registry_summary import dags_of, summary_lines
from hudi_services.registry.load import Reading, read_registry

REGISTRY = """\
tables:
  - name: orders
    base_path: /lake/orders
    keys: {record_key: id}
    source: {path: /land, format: csv}
    ingest: {schedule: 0 * * * *}
  - name: idle
    base_path: /lake/idle
  - name: misspelt
    base_path: ${NOWHERE}/misspelt
    operatoin: upsert
"""


def reading(tmp_path: Path, text: str = REGISTRY) -> Reading:
    file = tmp_path / "tables.yaml"
    file.write_text(text)
    return read_registry(file, {})


def test_tables_what_never_runs_and_mistakes_with_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    assert list(summary_lines(reading(tmp_path), date(2026, 11, 22))) == [
        f"{file}: 2 tables, 3 DAGs",
        "  orders: ingest cron 0 * * * *",
        "  idle: nothing runs by itself",
        "by hand only, as nothing starts them:",
        "  orders.clean: neither clean.schedule nor clean.after_ingests is set",
        "  idle.clean: neither clean.schedule nor clean.after_ingests is set",
        "2 mistakes, which Airflow shows as an import error:",
        f"  {file}:10: misspelt.base_path: the environment variable NOWHERE is not set; "
        "it is needed for '${NOWHERE}/misspelt'",
        f"  {file}:11: misspelt.operatoin: is not an option; known: " + _known(tmp_path),
    ]
    assert dags_of(reading(tmp_path, "doctor: {}\n"))[-1] == "hudi_doctor"
    assert dags_of(reading(tmp_path)) == [
        "hudi_ingest__orders",
        "hudi_clean__orders",
        "hudi_clean__idle",
    ]


def _known(tmp_path: Path) -> str:
    return next(str(each) for each in reading(tmp_path).mistakes if "operatoin" in each.key).partition("known: ")[2]


def test_many_tables_are_counted(tmp_path: Path) -> None:
    text = "tables:\n" + "".join(f"  - {{name: t{n}, base_path: /lake/t{n}}}\n" for n in range(1000))
    lines = list(summary_lines(reading(tmp_path, text), date(2026, 11, 22)))
    assert lines[0].endswith(": 1000 tables, 1000 DAGs")
    assert "  ... and 980 more tables" in lines
    assert len(lines) < 50
