"""The examples of docs/how-to/shape-rows.md run as they are written."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.registry.load import read_registry
from hudi_services.runtime.result import ServiceResult

DOCS = Path(__file__).resolve().parents[6] / "docs"
TEXT = (DOCS / "how-to" / "shape-rows.md").read_text()
COUNTS = (DOCS / "reference" / "counts.md").read_text()
YAML, SHELL = (re.search(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)[1] for kind in ("yaml", "sh"))


def test_the_entry_of_the_registry(feed, tmp_path, capsys):
    feed.land(
        "1.csv",
        "Bestellnr;Zeit;paid_at;amount;country;status\n"
        "007;01.07.2026 12:00;1782900000000;1,50;de;ok\n"
        "008;2026-07-01T12:00:00Z;;10;at;ok\n"
        "009;01.07.2026 12:00;;1;at;test\n"
        "010;01.07.2026;;1;at;ok\n"
        "011;01.07.2026 12:00;;1,005;at;ok\n",
    )
    entry = {
        "name": "orders",
        "base_path": str(feed.table),
        "keys": {"record_key": ["order_id"], "partition_by": ["day"], "ordering": ["ordered_at"]},
        **yaml.safe_load(YAML),
    }
    entry["source"] |= {"path": str(feed.source), "quarantine": {"max_share": 0.5}}
    file = tmp_path / "tables.yaml"
    file.write_text(yaml.safe_dump({"tables": [entry]}))
    registry = read_registry(str(file))
    assert not registry.mistakes
    result = tmp_path / "result.json"
    assert main(["ingest", "--registry", str(file), "--table", "orders", "--explain"]) == 0
    told = capsys.readouterr().out
    for step in (
        "rename Zeit to ordered_at",
        "parse times of paid_at: epoch_ms",
        "cast amount to decimal128(10, 2)",
        "sql: SELECT",
    ):
        assert step in told
    assert main(["ingest", "--registry", str(file), "--table", "orders", "--result-path", str(result)]) == 0
    rows = (
        HoodieTable.open(str(feed.table))
        .read()
        .select(["order_id", "ordered_at", "paid_at", "amount", "country", "gross", "day"])
    )
    moment = datetime(2026, 7, 1, 10, tzinfo=UTC)
    paid = datetime.fromtimestamp(1782900000, UTC)
    assert rows.sort_by("order_id").to_pylist() == [
        {
            "order_id": "007",
            "ordered_at": moment,
            "paid_at": paid,
            "amount": Decimal("1.50"),
            "country": "DE",
            "gross": Decimal("1.7850"),
            "day": date(2026, 7, 1),
        },
        {
            "order_id": "008",
            "ordered_at": moment.replace(hour=12),
            "paid_at": None,
            "amount": Decimal("10.00"),
            "country": "AT",
            "gross": Decimal("11.9000"),
            "day": date(2026, 7, 1),
        },
    ]
    counts = json.loads(result.read_text())
    assert [counts[f"rows_{name}"] for name in ("read", "written", "filtered", "quarantined")] == [5, 2, 1, 2]
    assert sorted((row["Bestellnr"], reason) for _, reason, row in feed.quarantined) == [
        ("010", "line 5: column ordered_at: '01.07.2026' is no time %d.%m.%Y %H:%M or iso in Europe/Berlin"),
        ("011", "line 6: column amount: '1.005' is no decimal(10,2)"),
    ]


def test_the_command(feed, tmp_path):
    feed.land("1.json", [{"order_id": 1, "amount": 2.5}, {"order_id": 2, "amount": -1}])
    words = shlex.split(
        SHELL.replace("\\\n", " ")
        .replace("/data/lake/orders", str(feed.table))
        .replace("/data/landing/orders", str(feed.source))
    )
    assert main(words[1:]) == 0
    assert HoodieTable.open(str(feed.table)).read().select(["order_id", "amount"]).to_pylist() == [
        {"order_id": 1, "amount": Decimal("2.50")}
    ]


def test_checks_of_one_s_own(feed):
    sql = re.search(r"`(CASE WHEN amount < 0 .*?)`", TEXT)[1]
    feed.land(
        "1.json", [{"id": "a", "part": "p", "ts": 1, "amount": 1}, {"id": "b", "part": "p", "ts": 1, "amount": -1}]
    )
    feed.run("json", max_bad_share=0.5, declared={"sql": f"select * exclude (amount), {sql} from batch"})
    assert feed.quarantined == [
        ("1.json", "line 2: sql: Invalid Input Error: negative", {"id": "b", "part": "p", "ts": 1, "amount": -1})
    ]


def test_every_count_is_explained():
    counts = set(re.findall(r"`(rows_\w+)`", COUNTS.partition("\n`rows_read +")[0]))
    assert counts == {name for name in ServiceResult.__dataclass_fields__ if name.startswith("rows_")}


@pytest.mark.parametrize(
    ("said", "mistake"),
    [
        (
            {"sql": "select max(a) as a from batch"},
            "source.sql: max, a function of the kind aggregate; write one SELECT",
        ),
        ({"sql": "copy batch to 'x'"}, "source.sql: another statement than SELECT"),
        ({"timestamps": {"a": "%H:%M"}}, "gives no day"),
        ({"timestamps": {"a": {"zone": "Nowhere"}}}, "'Nowhere' is not a time zone"),
        ({"rename": {"a": "b", "c": "b"}}, "source.rename.c: gives the name 'b', which 'a' gets too"),
        ({"rename": {"a": "b"}, "cast": {"a": "int"}}, "source.cast.a: must use the new name, 'b'"),
        ({"schema": {"a": "int"}, "cast": {"b": "int"}}, "source.cast.b: is no column of `schema`"),
        (
            {"schema": {"a": "timestamp"}, "timestamps": {"a": "%d.%m.%Y"}},
            "source.timestamps.a: `schema` says timestamp",
        ),
        ({"cast": {"a": "decimals"}}, "source.cast.a: "),
    ],
)
def test_mistakes_are_told_where_the_registry_is_read(tmp_path, said, mistake):
    entry = {
        "name": "t",
        "base_path": "/lake/t",
        "keys": {"record_key": "a"},
        "source": {"path": "/in", "format": "csv", **said},
    }
    file = tmp_path / "tables.yaml"
    file.write_text(yaml.safe_dump({"tables": [entry]}))
    (found,) = read_registry(str(file)).mistakes
    assert mistake in str(found)
    assert found.line > 1
    assert json.dumps(str(found))
