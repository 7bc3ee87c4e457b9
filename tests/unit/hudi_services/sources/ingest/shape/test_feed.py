"""Shaping together with how files are read: text formats, declared schemas, tables that are there, columns that come and go."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, SourceError
from tests.support.tables import batch


def read(feed, *names):
    return sorted(feed.open().read().select(list(names)).to_pylist(), key=str)


def test_codes_money_and_times_of_a_csv_stay_what_they_are_over_many_loads(feed):
    said = {
        "csv": {"delimiter": ";", "decimal_mark": ","},
        "rename": {"Nr": "id", "Betrag": "value", "Zeit": "ts"},
        "cast": {"value": "decimal(10,2)", "id": "string"},
        "timestamps": {"ts": {"formats": "%d.%m.%Y", "zone": "UTC"}},
        "sql": "SELECT *, 'p' AS part, value * 2 AS twice FROM batch",
    }
    for number, rows in enumerate(["7;1,50;01.07.2026", "007;2;02.07.2026", "NA;;03.07.2026", ""]):
        feed.land(f"{number}.csv", f"Nr;Betrag;Zeit\n{rows}\n")
        feed.run("csv", declared=said)
    assert read(feed, "id", "value", "ts", "twice") == [
        {"id": "007", "value": Decimal("2.00"), "ts": datetime(2026, 7, 2, tzinfo=UTC), "twice": Decimal("4.00")},
        {"id": "7", "value": Decimal("1.50"), "ts": datetime(2026, 7, 1, tzinfo=UTC), "twice": Decimal("3.00")},
        {"id": "NA", "value": None, "ts": datetime(2026, 7, 3, tzinfo=UTC), "twice": None},
    ]
    feed.land("9.csv", "Nr;Betrag;Zeit\n8;1,005;01.07.2026\n9;1;1.7.26\n")
    assert feed.run("csv", declared=said, max_bad_share=1.0).rows_quarantined == 2
    assert [reason for _, reason, _ in feed.quarantined] == [
        "line 2: column value: '1.005' is no decimal(10,2)",
        "line 3: column ts: '1.7.26' is no time %d.%m.%Y in UTC",
    ]


def test_numbers_of_json_are_cast_without_loss(feed):
    feed.land(
        "1.json",
        '{"id": "a", "part": "p", "ts": 1, "value": 12345678901234567.89}\n'
        '{"id": "b", "part": "p", "ts": 1, "value": 1.005}\n'
        '{"id": "c", "part": "p", "ts": 1, "value": "2.50"}\n',
    )
    assert feed.run("json", declared={"cast": {"value": "decimal(20,2)"}}, max_bad_share=0.5).rows_quarantined == 1
    assert read(feed, "id", "value") == [
        {"id": "a", "value": Decimal("12345678901234567.89")},
        {"id": "c", "value": Decimal("2.50")},
    ]


def test_epochs_of_json_and_parquet(feed):
    said = {"timestamps": {"ts": "epoch_ms"}}
    feed.land("1.json", [{"id": "a", "part": "p", "ts": 1700000000123}])
    feed.land("1.parquet", batch([("b", "p", 1700000000123, 1)]))
    feed.run("json", declared=said)
    feed.run("parquet", declared=said)
    moment = datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)
    assert read(feed, "id", "ts") == [{"id": "a", "ts": moment}, {"id": "b", "ts": moment}]


def test_a_declared_schema_is_shaped(feed):
    feed.land("1.csv", "Id,part,ts,value\n007,p,01.02.2026,5\n")
    said = {
        "schema": {"Id": "string", "part": "string", "ts": "timestamp_ntz", "value": "bigint"},
        "rename": {"Id": "id"},
        "timestamps": {"ts": "%d.%m.%Y"},
        "cast": {"value": "decimal(10,2)"},
    }
    feed.run("csv", declared=said)
    assert read(feed, "id", "ts", "value") == [{"id": "007", "ts": datetime(2026, 2, 1), "value": Decimal("5.00")}]


def test_a_key_that_sql_drops_is_told(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,1\n")
    with pytest.raises(
        SourceError,
        match=r"Record key column 'id' is in no row of .*columns part, ts.*correct keys.record_key in the entry \w+ of ",
    ):
        feed.run("csv", declared={"sql": "select part, ts from batch"})
    assert not feed.table.exists()


def test_hudi_s_own_names_only_when_they_are_renamed(feed):
    feed.land("1.parquet", batch([("a", "p", 1, 1)]).append_column("_hoodie_record_key", pa.array(["x"])))
    with pytest.raises(Exception, match="_hoodie_record_key"):
        feed.run()
    feed.run(declared={"rename": {"_hoodie_record_key": "old_key"}})
    assert read(feed, "id", "old_key") == [{"id": "a", "old_key": "x"}]


def test_deletions_take_the_same_shape(feed):
    said = {"rename": {"nr": "id"}, "cast": {"id": "string"}, "sql": "SELECT *, 'p' AS part FROM batch WHERE id <> '2'"}
    feed.land("1.json", [{"nr": n, "ts": 1} for n in (1, 2, 3)])
    feed.run("json", declared=said)
    feed.land("2.json", [{"nr": n, "ts": 2} for n in (1, 2, 9)])
    result = feed.run("json", declared=said, operation="delete")
    assert (result.rows_deleted, result.rows_filtered, result.rows_without_effect) == (1, 1, 1)
    assert read(feed, "id") == [{"id": "3"}]


def test_sql_that_does_not_fit_leaves_no_table(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,1\n")
    with pytest.raises(ConfigError, match="does not fit its columns"):
        feed.run("csv", declared={"sql": "select *, nosuch + 1 as x from batch"})
    assert not feed.table.exists()
