"""`hudi-services diff`: what changed between two instants."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, said
from tests.support.tables import SMALL_BLOOM, batch, create

ODD = pa.schema(
    [
        ("before", pa.string()),
        ("x", pa.float64()),
        ("raw", pa.binary()),
        ("money", pa.decimal128(5, 2)),
        ("none", pa.int64()),
    ]
)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    """Three commits: a and b; b again and c in another partition; a deleted."""
    made = create(tmp_path / "trips", **{"hoodie.table.type": request.param})
    made.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    made.write(batch([("b", "p", 2, 7), ("c", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    made.write(batch([("a", "p", 3, 1)]), "delete", SMALL_BLOOM)
    return made


def diff(capsys, table, *arguments):
    assert main(["diff", *arguments, f"--target-base-path={table.base_path}", "--json"]) == DONE
    return json.loads(capsys.readouterr().out)


def test_the_commits_between_tell(table, capsys):
    first, second, third = table.timeline.commits
    found = diff(capsys, table, first.time)
    assert [row["instant"] for row in found["commits"]] == [third.time, second.time]
    assert [found[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted")] == [1, 1, 1]
    assert [(row["partition"], row["file_groups"]) for row in found["partitions"]] == [("part=p", 1), ("part=q", 1)]
    found = diff(capsys, table, first.time, second.time)
    assert [found[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted")] == [1, 1, 0]
    found = diff(capsys, table, "2020-01-01", first.time)
    assert found["rows_inserted"] == 2
    assert diff(capsys, table, third.time)["commits"] == []


def test_the_rows_that_differ(table, capsys):
    first, second, _ = table.timeline.commits
    found = diff(capsys, table, first.time, "--rows=10")["rows"]
    assert [(row["change"], row["key"]) for row in found] == [("updated", "b"), ("deleted", "a"), ("inserted", "c")]
    assert (found[0]["before"]["value"], found[0]["after"]["value"]) == (1, 7)
    assert found[1]["after"] is None
    assert [row["key"] for row in diff(capsys, table, first.time, "--rows=1")["rows"]] == ["b"]
    found = diff(capsys, table, "2020-01-01", second.time, "--rows=10")["rows"]
    assert [(row["change"], row["key"]) for row in found] == [("inserted", "a"), ("inserted", "b"), ("inserted", "c")]
    assert main(["diff", first.time, f"--target-base-path={table.base_path}", "--rows=10"]) == DONE
    text = capsys.readouterr().out
    assert "~ part=p  b  ts: 1 -> 2, value: 1 -> 7" in text
    assert "- part=p  a  id: 'a'" in text


def test_of_each_kind_of_change_some_rows_are_shown(tmp_path, capsys):
    made = create(tmp_path / "trips")
    made.write(batch([(f"old{number}", "p", 1, 1) for number in range(20)]), "upsert", SMALL_BLOOM)
    first = made.timeline.commits[-1].time
    rows = [
        *((f"new{number}", "p", 1, 1) for number in range(20)),
        *((f"old{number}", "p", 2, 2) for number in range(3)),
    ]
    made.write(batch(rows), "upsert", SMALL_BLOOM)
    made.write(batch([("old9", "p", 2, 2)]), "delete", SMALL_BLOOM)
    for most, counts in (
        (30, (20, 3, 1)),
        (12, (8, 3, 1)),
        (6, (2, 3, 1)),
        (3, (1, 1, 1)),
        (2, (0, 1, 1)),
        (1, (0, 0, 1)),
    ):
        found = Counter(row["change"] for row in diff(capsys, made, first, f"--rows={most}")["rows"])
        assert tuple(found[kind] for kind in ("inserted", "updated", "deleted")) == counts


@pytest.mark.parametrize(
    ("without", "shown"), [("value", True), ("other", True), ("ID", False), ("id", False), ("id.part", False)]
)
def test_a_key_is_shown_where_no_column_of_it_is_left_out(table, capsys, without, shown):
    first = table.timeline.commits[0]
    for begin in (first.time, "2020-01-01"):
        found = diff(capsys, table, begin, "--rows=10", f"--without={without}")["rows"]
        assert {row["key"] is not None for row in found} == {shown}
    assert main(["diff", first.time, f"--target-base-path={table.base_path}", "--rows=10", f"--without={without}"]) == 0
    assert ("  b  " in capsys.readouterr().out) == shown


def test_a_compaction_moves_rows_and_changes_none(tmp_path, capsys):
    made = create(tmp_path / "trips", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in (1, 2):
        made.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    last = made.timeline.commits[-1].time
    made.schedule(COMPACTION, force=True)
    made.run(COMPACTION)
    found = diff(capsys, made, last, "--rows=5")
    assert [row["operation"] for row in found["commits"]] == ["COMPACT"]
    assert [found[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted")] == [0, 0, 0]
    assert found["rows"] == []


def test_what_cannot_be(table, tmp_path, capsys):
    first, second, _ = (commit.time for commit in table.timeline.commits)
    where = f"--target-base-path={table.base_path}"
    assert main(["diff", second, first, where]) == USAGE
    assert "give the earlier instant first" in said(capsys)
    for time in ("yesterday", "٢٠٢٦٠١٠١٠٠٠٠٠٠"):  # digits that are in no order with others
        assert main(["diff", time, where]) == FAILED
        assert "give an instant" in said(capsys)
    bare = create(tmp_path / "bare", **{"hoodie.populate.meta.fields": "false"})
    bare.write(batch([("a", "p", 1, 1)]), "upsert", {})
    assert diff(capsys, bare, "2020-01-01")["rows_inserted"] == 1
    assert main(["diff", "2020-01-01", f"--target-base-path={bare.base_path}", "--rows=1"]) == FAILED
    assert "virtual keys" in said(capsys)


def test_odd_values_are_shown(tmp_path, capsys):
    made = HoodieTable.create(
        str(tmp_path / "odd"), {"hoodie.table.name": "odd", "hoodie.table.recordkey.fields": "before"}
    )
    rows = {"before": ["ü'\n"], "x": [float("nan")], "raw": [b"\xff"], "money": [Decimal("1.10")], "none": [None]}
    made.write(pa.table(rows, schema=ODD), "upsert", SMALL_BLOOM)
    [row] = diff(capsys, made, "2020-01-01", "--rows=1")["rows"]
    assert row["after"] == {"before": "ü'\n", "x": "NaN", "raw": "b'\\xff'", "money": "1.10", "none": None}
    assert main(["diff", "2020-01-01", "--rows=1", f"--target-base-path={made.base_path}"]) == DONE
    assert "money: 1.10, none: null" in capsys.readouterr().out


def test_each_row_of_a_doubled_key_is_told(tmp_path, capsys):
    apart = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, "hoodie.datasource.insert.dup.policy": "none"}
    made = create(tmp_path / "t")
    for value in (1, 2):
        made.write(batch([("a", "p", 1, value)]), "insert", apart)
    made.write(batch([("a", "p", 2, 9)]), "upsert", apart)
    made.write(batch([("a", "p", 3, 9)]), "delete", apart)
    first, second, third, _ = made.timeline.commits

    def told(*between):
        found = diff(capsys, made, *between, "--rows=9")["rows"]
        values = [[row and row["value"] for row in (each["before"], each["after"])] for each in found]
        return sorted((each["change"], *two) for each, two in zip(found, values, strict=True))

    assert told("2020-01-01", second.time) == [("inserted", None, 1), ("inserted", None, 2)]
    assert told(second.time, third.time) == [("updated", 1, 9), ("updated", 2, 9)]
    assert told(first.time, third.time) == [("inserted", None, 9), ("updated", 1, 9)]
    assert told(second.time) == [("deleted", 1, None), ("deleted", 2, None)]
    assert len(diff(capsys, made, "2020-01-01", second.time, "--rows=1")["rows"]) == 1


def test_an_updated_row_names_what_differs(tmp_path, capsys):
    """NaN does not, nor a column that is new and null; a long text does, however late."""
    made = HoodieTable.create(str(tmp_path / "t"), {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"})
    old = {"id": ["a"], "text": ["x" * 5000 + "y"], "odd": [float("nan")]}
    first = made.write(pa.table(old), "upsert", SMALL_BLOOM).instant.time
    new = {**old, "text": ["x" * 5000 + "z"], "more": pa.array([None], pa.int64())}
    made.write(pa.table(new), "upsert", SMALL_BLOOM)
    [row] = diff(capsys, made, first, "--rows=1")["rows"]
    assert (row["change"], row["differs"]) == ("updated", ["text"])
    [row] = diff(capsys, made, first, "--rows=1", "--without=TEXT")["rows"]
    assert (row["differs"], set(row["before"])) == ([], {"id", "odd"})
    [row] = diff(capsys, made, "2020-01-01", first, "--rows=1")["rows"]
    assert (row["change"], row["differs"]) == ("inserted", [])


def test_times_beyond_the_years_of_python_are_shown(tmp_path, capsys):
    """In rows that differ, and in the footer of their file."""
    made = create(tmp_path / "trips")
    late = pa.array([1 << 60, 0], pa.int64()).cast(pa.timestamp("us", "UTC"))
    for ts in (1, 2):
        rows = batch([("a", "p", ts, ts), ("b", "p", ts, ts)]).append_column("at", late)
        made.write(rows, "upsert", SMALL_BLOOM)
    found = diff(capsys, made, made.timeline.commits[0].time, "--rows=2")
    assert {row["key"]: row["after"]["at"] for row in found["rows"]} == {
        "a": "1152921504606846976 (timestamp[us, tz=UTC])",
        "b": "1970-01-01 00:00:00+00:00",
    }
    path = made.file_slices()[0].base_file.path
    assert main(["show", "file", path, f"--target-base-path={made.base_path}", "--json"]) == DONE
    columns = {each["column"]: each for each in json.loads(capsys.readouterr().out)["columns"]}
    assert (columns["at"]["minimum"], columns["at"]["maximum"]) == ("1970-01-01 00:00:00+00:00", str(1 << 60))
