"""Some rows of a table: as many as are asked for, as it was, as values that a page can show."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import ConfigError
from hoodie.schema.changes import AddColumn, RenameColumn
from hoodie.storage import ListingCache
from hoodie.view import load_state
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.contents import files, slices
from hudi_services.operations.inspect.difference import difference
from hudi_services.operations.inspect.rows import rows
from hudi_services.operations.inspect.table_look import Look, look_at
from tests.support.counting import CountingStorage
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def shown(table: HoodieTable, limit: int = 20, as_of: str | None = None, width: int = 200, **more: Any) -> Any:
    look = look_at(ChosenTable(str(table.base_path), None))
    return rows(look, limit, as_of, more.get("within"), more.get("without", ()), width).values


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_are_those_of_a_read_now_and_then(tmp_path: Path, kind: str) -> None:
    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    first = table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM).instant.time
    table.write(batch([("a", "p", 2, 7)]), "upsert", SMALL_BLOOM)
    found = shown(table)
    names = [each["name"] for each in found["columns"]]
    assert names == ["id", "part", "ts", "value"]
    assert sorted(found["rows"]) == [["a", "p", 2, 7], ["b", "q", 1, 1]]
    assert sorted(shown(table, as_of=str(first))["rows"]) == [["a", "p", 1, 1], ["b", "q", 1, 1]]
    assert shown(table, within="part=q")["rows"] == [["b", "q", 1, 1]]
    assert (shown(table, 1)["more"], len(shown(table, 1)["rows"]), found["more"]) == (True, 1, False)
    assert [each["name"] for each in shown(table, without=["part", "value"])["columns"]] == ["id", "ts"]


def test_no_more_files_are_opened_than_hold_them(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    for number in range(6):
        table.write(batch([(f"{number}", "p", 1, 1)]), "insert", APART)
    counting = CountingStorage(table.base_path)
    look = Look(ListingCache(counting), load_state(counting, table.clock), table.clock, table.clock.now())
    rows(look, 2, None, None, (), 200)
    assert len(counting.data()[1]) == 2


def test_values_are_such_as_a_page_can_show(tmp_path: Path) -> None:
    values = {
        "id": pa.array(["<b>", "y"]),
        "part": pa.array(["p", "p"]),
        "ts": pa.array([1, 2], pa.int64()),
        "empty": pa.array(["", None]),
        "large": pa.array([2**62, 3], pa.int64()),
        "odd": pa.array([float("nan"), float("inf")]),
        "day": pa.array([date(2026, 1, 2), None]),
        "money": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
        "bytes": pa.array([b"\x00\xff" * 500, b""]),
        "nested": pa.array([{"x": [1, 2]}, None], pa.struct([("x", pa.list_(pa.int64()))])),
        "map": pa.array([[("a", Decimal("1.5"))], []], pa.map_(pa.string(), pa.decimal128(9, 2))),
        "long": pa.array(["x" * 1000, "y"]),
    }
    table = HoodieTable.create(str(tmp_path / "t"), OPTIONS)
    table.write(pa.table(values), "upsert", SMALL_BLOOM)
    found = shown(table, width=20)
    names = [each["name"] for each in found["columns"]]
    by_id = {row[0]: dict(zip(names, row, strict=True)) for row in found["rows"]}
    one, other = by_id["<b>"], by_id["y"]
    assert (one["empty"], other["empty"]) == ("", None)
    assert (one["large"], other["large"]) == (str(2**62), 3)
    assert (one["odd"], other["odd"]) == ("nan", "inf")
    assert (one["day"], one["money"]) == ("2026-01-02", "1.50")
    assert (one["bytes"], other["bytes"]) == ("00ff" * 5 + "…", "")
    assert (one["nested"], other["nested"]) == ({"x": [1, 2]}, None)
    assert (one["map"], other["map"]) == ({"a": "1.50"}, {})
    assert one["long"] == "x" * 20 + "…"
    json.loads(json.dumps(found, allow_nan=False))


def test_a_compacted_table_with_logs_and_many_columns_is_shown(tmp_path: Path) -> None:
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    assert shown(table)["rows"] == [["a", "p", 3, 3]]


def test_the_command_and_its_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    at = ["show", "rows", "--target-base-path", table.base_path]
    assert main(at) == 0
    assert "a" in capsys.readouterr().out
    assert main([*at, "--json", "--as-of=20000101000000000"]) == 1
    assert json.loads(capsys.readouterr().out)["error"] == "TimeTravelError"
    assert main([*at, "--as-of=soon"]) == 2
    assert main([*at, *(f"--without={name}" for name in ("id", "part", "ts", "value"))]) == 2
    assert "No column is left" in capsys.readouterr().err


def columns(found: Any) -> list[str]:
    return [each["name"] for each in found["columns"]]


@pytest.mark.parametrize("name", ["VALUE", "value", "amount", "Amount.part"])
def test_a_column_that_is_left_out_has_no_other_name(tmp_path: Path, name: str) -> None:
    """Neither in capitals, nor by one of its parts, nor by what it was called before or is called since."""
    table = create(tmp_path / "t")
    first = table.write(batch([("a", "p", 1, 4711)]), "upsert", SMALL_BLOOM).instant.time
    table.alter([RenameColumn("value", "amount"), AddColumn("extra", pa.int64())])
    now, then = shown(table, without=[name]), shown(table, as_of=str(first), without=[name])
    assert (columns(now), now["without"]) == (["id", "part", "ts", "extra"], ["amount"])
    assert (columns(then), then["without"]) == (["id", "part", "ts"], ["value"])
    assert "4711" not in json.dumps([now, then])
    table.write(batch([("a", "p", 9, 4712)]).rename_columns(["id", "part", "ts", "amount"]), "upsert", SMALL_BLOOM)
    look = look_at(ChosenTable(str(table.base_path), None))
    (row,) = difference(look, first, None, 10, [name]).values["rows"]
    assert (row["change"], row["differs"]) == ("updated", ["ts"])
    assert "471" not in json.dumps([row, difference(look, "20000101000000000", first, 10, [name]).values["rows"]])


def test_what_no_column_is_called_leaves_none_out(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    assert shown(table, without=["other"])["rows"] == []
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    found = shown(table, without=["other"])
    assert (found["rows"], found["without"]) == ([["a", "p", 1, 1]], [])


@pytest.mark.parametrize("written", ["part=p", "part=p/", "./part=p", "part=p//."])
def test_a_partition_has_one_name_however_it_is_written(tmp_path: Path, written: str) -> None:
    """Its replaced files are found by that name, and are not shown."""
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b", "p", 2, 2)]), "insert_overwrite", SMALL_BLOOM)
    found = shown(table, within=written)
    assert (found["rows"], found["partition"]) == ([["b", "p", 2, 2]], "part=p")
    look = look_at(ChosenTable(str(table.base_path), None))
    assert (
        len(files(look, written).values["files"]) == len(slices(look, written, everything=False).values["slices"]) == 1
    )


@pytest.mark.parametrize("written", ["//etc", "..", "part=q/../part=p", "/", ".hoodie"])
def test_a_partition_does_not_lead_elsewhere(tmp_path: Path, written: str) -> None:
    table = create(tmp_path / "t")
    with pytest.raises(ConfigError, match="is not a partition"):
        shown(table, within=written)


def test_a_partition_that_is_not_there_is_refused(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 1, 1)]), "delete", SMALL_BLOOM)
    table.delete_partitions(["part=q"])
    assert shown(table, within="part=p")["rows"] == shown(table, within="part=q")["rows"] == []
    look = look_at(ChosenTable(str(table.base_path), None))
    looks = [lambda: shown(table, within="part"), lambda: files(look, "part=pq"), lambda: files(look, "")]
    for each in [*looks, lambda: slices(look, "q", everything=True)]:
        with pytest.raises(ConfigError, match=r"has no partition .*2 partitions: part=p, part=q.*show partitions"):
            each()


def test_an_empty_table_has_none(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    assert shown(table)["rows"] == []
