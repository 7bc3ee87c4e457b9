"""The docs about choosing and reading files: each example of the registry is run as it is written."""

from __future__ import annotations

import gzip
import json
import os
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.registry.load import read_registry

HOW_TO = Path(__file__).resolve().parents[5] / "docs" / "how-to"
TEXT = "\n".join((HOW_TO / page).read_text() for page in ("load-files.md", "csv-json.md", "column-types.md"))
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |^# |\Z)", TEXT, re.M | re.S))
KEYS = {"record_key": "order_id"}

PLAIN = b"order_id,city\n1,x\n"
GZIP = gzip.compress(b"order_id,city\n2,y\n")
FILES = {
    "Which files": {
        "orders_1.txt": PLAIN,
        "archive/a/b/orders_2.csv.gz": GZIP,
        "orders_3.csv": PLAIN,
        "orders_9.txt": b"x",
    },
    "CSV files": {
        "1.csv": "made by us\n# order;city;amount\n007;Köln;1.234,5\n8;'a;\\'b';-\n".encode("latin-1"),
    },
    "JSON files": {"1.json": json.dumps([{"order_id": 1, "price": 1.5}, {"order_id": 2}], indent=1).encode("utf-16")},
    "Declared columns": {
        "1.csv": b"amount,order_id,ordered_at,more\n1.50,007,2026-01-02 03:04:05,x\n,8,2026-01-02,x\n1.005,9,2026-01-02,x\n"
    },
    "Declared columns 2": {"1.csv": b"order_id,created,version\n007,2026-01-02 03:04:05,1\n"},
    "Files that cannot be read": {"1.csv": b"order_id,value\n1,2\n", "2.csv.gz": b"no gzip"},
}
EXPECTED = {
    "Which files": [{"order_id": 1, "city": "x"}, {"order_id": 2, "city": "y"}],
    "CSV files": [
        {"order_id": "007", "city": "Köln", "amount": Decimal("1234.5")},
        {"order_id": "8", "city": "a;'b", "amount": None},
    ],
    "JSON files": [{"order_id": 1, "price": 1.5}, {"order_id": 2, "price": None}],
    "Declared columns": [
        {
            "order_id": "007",
            "ordered_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "amount": Decimal("1.50"),
            "currency": "EUR",
        }
    ],
    "Declared columns 2": [{"order_id": "007", "created": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "version": 1}],
    "Files that cannot be read": [{"order_id": 1, "value": 2}],
}
QUARANTINED = {"Declared columns": 2}


def examples():
    for name, text in SECTIONS.items():
        for number, example in enumerate(re.findall(r"```yaml\n(.*?)```", text, re.S), 1):
            yield pytest.param(name if number == 1 else f"{name} {number}", example, id=f"{name} {number}")


def test_every_example_has_its_files():
    assert {each.values[0] for each in examples()} == FILES.keys()


@pytest.mark.parametrize(("name", "example"), examples())
def test_an_example(tmp_path, capsys, name, example):
    landing = tmp_path / "landing"
    for path, data in FILES[name].items():
        (landing / path).parent.mkdir(parents=True, exist_ok=True)
        (landing / path).write_bytes(data)
        if not path.endswith("9.txt"):
            os.utime(landing / path, (1e9, 1e9))
    entry = {"name": "orders", "base_path": str(tmp_path / "orders"), "keys": KEYS, **yaml.safe_load(example)}
    entry["source"]["path"] = str(landing)
    entry["source"].setdefault("quarantine", {})["max_share"] = 0.7
    file = tmp_path / "tables.yaml"
    file.write_text(yaml.safe_dump({"tables": [entry]}))
    assert not read_registry(file).mistakes
    command = ["ingest", "--registry", str(file), "--table", "orders"]
    assert main([*command, "--explain"]) == 0
    told = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    columns = list(EXPECTED[name][0])
    rows = HoodieTable.open(entry["base_path"]).read(columns=columns).select(columns)
    assert rows.sort_by("order_id").to_pylist() == EXPECTED[name]
    assert result["rows_quarantined"] == QUARANTINED.get(name, 0)
    if name == "Which files":
        assert "left out: orders_9.txt: changed too short a time ago" in told
        assert "1 of other names" in told
    if name == "Files that cannot be read":
        assert result["files_skipped"] == 1
        assert "SKIPPED: 2.csv.gz" in result["message"]
    if name == "Declared columns 2":
        found = {
            path.parent.relative_to(tmp_path / "orders").as_posix() for path in (tmp_path / "orders").rglob("*.parquet")
        }
        assert found == {"2026/01/02"}
