"""Twelve messy feeds and more: the entry that `infer` prints loses no row of them, or is refused by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.sources.infer import sample


@dataclass(frozen=True)
class Feed:
    """Files by their names. `rows` is how many rows differ; None: nothing identifies a row, so the entry is refused.

    `keys` are those of the entry, `versions` is true where only the newest row of each key stays.
    """

    files: dict[str, str | bytes]
    rows: int | None
    keys: dict[str, list[str]] = field(default_factory=dict)
    remark: str = ""
    says: str = ""


def _lines(header: str, rows: list[str]) -> str:
    return "\n".join([header, *rows]) + "\n"


def _json(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


DAYS = [f"2026-07-0{n}" for n in range(1, 4)]

FEEDS = {
    "lines that come twice": Feed(
        {"a.csv": _lines("id,v", [f"{n % 30},x{n % 30}" for n in range(60)])},
        30,
        {"record_key": ["id"]},
        remark="# 30 rows are identical to others, and would count once",
        says="# expect: {unique: [id]}  # identical rows, as the sample has, would stop each load",
    ),
    "a time that is unique by chance": Feed(
        {
            "a.csv": _lines(
                "till,sold_at,item,price",
                [f"{n % 4},2026-11-20 08:{min(n, 59):02}:00,tea{n % 9},2.50" for n in (*range(60), *range(10))],
            )
        },
        None,
        remark="# 10 rows are identical to others, and would count once. If each counts, deliver a column",
        says="by chance: it is no key. Name the columns that identify a row, such as [sold_at, till, item]",
    ),
    "codes that look like numbers": Feed(
        {"a.csv": _lines("code,city", [*(f"{n},x" for n in range(40)), "1E5,x", "100000,x"])},
        42,
        {"record_key": ["code"]},
        says="code: string  # 1E5 is a code; double if it is a number?",
    ),
    "codes that stand alone in their file": Feed(
        {"a.csv": _lines("code,city", ["1E5,x", "2E7,y"]), "b.csv": _lines("code,city", [f"{n},x" for n in range(40)])},
        42,
        {"record_key": ["code"]},
        says="code: string  # 1E5 is a code; double if it is a number?",
    ),
    "nothing but such codes": Feed(
        {"a.csv": _lines("code,city", [f"{n}E{n % 7},x" for n in range(1, 40)])},
        39,
        {"record_key": ["code"]},
        says="code: string  # 1E1 is a code; double if it is a number?",
    ),
    "a column that one file lacks": Feed(
        {"1.csv": _lines("id,v,w", [f"{n},x,y" for n in range(9)]), "2.csv": _lines("w,id", ["y,9"])},
        10,
        {"record_key": ["id"]},
        remark="# Columns are lacking: 2.csv has no v. Its rows have null there, also where they replace rows with a value",
    ),
    "a key that is null in the tail": Feed(
        {"a.csv": _lines("id,note", [*(f"{n},same" for n in range(50)), ",same", ",other"])},
        None,
        remark="no column, and no two to four together, are unique and without nulls",
    ),
    "a key that is unique in its day only": Feed(
        {f"{day}.csv": _lines("no,day,v", [f"{n},{day},x" for n in range(20)]) for day in DAYS},
        60,
        {"record_key": ["no", "day"], "partition_by": ["day"]},
    ),
    "a key of three columns": Feed(
        {"a.csv": _lines("shop_no,till_no,slip_no,v", [f"{n // 9},{n // 3 % 3},{n % 3},x" for n in range(27)])},
        27,
        {"record_key": ["shop_no", "till_no", "slip_no"]},
    ),
    "a key of four columns beside one unique fraction": Feed(
        {
            "a.csv": _lines(
                "shop_no,till_no,day,seq,amount",
                [f"{n // 18},{n // 6 % 3},2026-07-0{n // 3 % 2 + 1},{n % 3},{n / 7:.4f}" for n in range(36)],
            )
        },
        36,
        {"record_key": ["shop_no", "till_no", "seq", "day"], "partition_by": ["day"]},
        says="unique in the 36 different rows that were looked at",
    ),
    "a key in a struct": Feed(
        {"a.json": _json([{"meta": {"id": f"e{n}", "of": "x"}, "amount": n % 2} for n in range(10)])},
        10,
        {"record_key": ["meta.id"]},
        says="expect: {unique: [meta.id]}",
    ),
    "too few rows for columns without such a name": Feed(
        {"a.csv": _lines("name,v", ["a,1", "b,1"])}, None, says="which are too few to say more"
    ),
    "events of one device": Feed(
        {"a.csv": _lines("device_id,ts,value", [f"d{n % 3},2026-01-01 00:00:{n:02},1" for n in range(30)])},
        30,
        {"record_key": ["device_id", "ts"], "ordering": ["ts"]},
        "each ts is a row of its own",
    ),
    "mixed types": Feed(
        {"a.csv": _lines("id,v", [f"{n},{'abc' if n % 2 else n}" for n in range(30)])}, 30, {"record_key": ["id"]}
    ),
    "leading zeros": Feed({"a.csv": _lines("code,v", ["007,a", "07,b", "7,c", "0,d"])}, 4, {"record_key": ["code"]}),
    "dates as text that are one date": Feed(
        {"a.csv": _lines("day,v", ["1.7.2026,a0", "01.07.2026,b0", *(f"2.7.2026,c{n}" for n in range(18))])},
        20,
        {"record_key": ["v"]},
    ),
    "words for nothing": Feed(
        {
            "a.csv": _lines(
                "id,amount,day,note,seen",
                [
                    "1,n/a,2026-07-01,-,01.07.2026 10:00",
                    "2,-,NULL,NA,n/a",
                    "3,1.50,n/a,n/a,02.07.2026 11:00",
                    "4,7,2026-07-02,x,NULL",
                ],
            )
        },
        4,
        {"record_key": ["id"]},
        says='null_values: {amount: ["-", n/a], day: ["NULL", n/a], seen: ["NULL", n/a]}',
    ),
    "line ends inside values": Feed(
        {"a.csv": _lines("id,note", [f'{n},"line one\nline ""{n}"""' for n in range(20)])}, 20, {"record_key": ["id"]}
    ),
    "a mark of the byte order": Feed(
        {"a.csv": b"\xef\xbb\xbf" + _lines("id;größe", [f"{n};{n},5" for n in range(9)]).encode()},
        9,
        {"record_key": ["id"]},
    ),
    "JSON with fields that are missing": Feed(
        {
            "a.json": _json(
                [{"id": n, **({"tag": f"t{n}"} if n % 2 else {}), "in": {"day": "2026-07-01"}} for n in range(9)]
            )
        },
        9,
        {"record_key": ["id"]},
        says='in: "struct<day: date>"',
    ),
    "rows that move to another day": Feed(
        {
            day: _lines("id,day,updated_at", [f"k{n},{day[:10]},{day[:10]} 10:00:00" for n in range(at, at + 20)])
            for at, day in zip((0, 10, 20), (f"{day}.csv" for day in DAYS), strict=True)
        },
        40,
        {"record_key": ["id"], "partition_by": ["day"], "ordering": ["updated_at"]},
        "day changes between rows of one key, and with this index the row moves",
        "hoodie.index.type: GLOBAL_SIMPLE",
    ),
    "fractions as keys": Feed(
        {"a.csv": _lines("x,v", [f"{n}.5,same" for n in range(9)])},
        None,
        remark="x is unique by chance, as an amount identifies no row",
    ),
    "times with a zone as keys": Feed(
        {"a.json": _json([{"dev_id": "d", "at": f"2026-07-01T10:00:0{n}Z"} for n in range(9)])},
        None,
        remark="dev_id, at would be unique, but at is a time with a zone",
    ),
    "headers in another case": Feed(
        {
            f"{file}.csv": _lines(f"{key},Name", [f"{n},{file}{n}" for n in range(10)])
            for file, key in (("a", "ID"), ("b", "id"))
        },
        20,
        {"record_key": ["Name"]},
    ),
    "rows that are not complete": Feed(
        {"a.csv": _lines("id,v,w", ["1,a,x", "2,b", "3,c,y"])},
        None,
        {"record_key": ["id"]},
        "Cannot be loaded: a.csv, line 3",
    ),
}


@pytest.fixture
def registry(tmp_path):
    return tmp_path / "tables.yaml"


def _loaded(registry, capsys):
    """The rows of the table that the entry of the registry makes; None if it, or its load, is refused."""
    (table,) = yaml.safe_load(registry.read_text())["tables"]
    checked = main(["registry", "check", str(registry)])
    told = capsys.readouterr().out
    assert "WARNING" not in told
    if checked:
        assert f"{table['name']}.keys.record_key: names no column" in told
        return None
    if main(["ingest", "--registry", str(registry), "--table", table["name"]]):
        assert "nothing was loaded" in capsys.readouterr().err
        return None
    rows = HoodieTable.open(table["base_path"]).read()
    return rows.select([name for name in rows.schema.names if not name.startswith("_hoodie_")])


@pytest.mark.parametrize("name", FEEDS)
def test_no_default_loses_a_row(name, registry, capsys):
    feed = FEEDS[name]
    (folder := registry.parent / "feed").mkdir()
    for file, content in feed.files.items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["infer", str(folder)]) == 0, capsys.readouterr().err
    registry.write_text(text := capsys.readouterr().out)
    found = _loaded(registry, capsys)
    assert (found.num_rows if found is not None else None) == feed.rows, text
    if feed.keys:
        assert yaml.safe_load(text)["tables"][0]["keys"] == feed.keys
    assert feed.remark in text
    assert feed.says in text


@pytest.mark.parametrize("header", ["id,v", "id,updated_at"])
def test_a_key_that_comes_twice_after_the_sample_stops_the_load(header, registry, capsys, monkeypatch):
    monkeypatch.setattr(sample, "_BYTES", 1000)
    (folder := registry.parent / "feed").mkdir()
    rows = [f"{n},2026-07-01 10:00:00" for n in range(200)]
    (folder / "a.csv").write_text(_lines(f"{header},w", [*(f"{row},x" for row in rows), f"{rows[-1]},y"]))
    main(["infer", str(folder)])
    registry.write_text(text := capsys.readouterr().out)
    assert "expect: {unique: [id" in text
    assert _loaded(registry, capsys) is None


def test_words_for_nothing_are_nulls_where_no_text_is_meant(registry, capsys):
    feed = FEEDS["words for nothing"]
    (folder := registry.parent / "feed").mkdir()
    (folder / "a.csv").write_text(feed.files["a.csv"])
    main(["infer", str(folder)])
    registry.write_text(capsys.readouterr().out)
    rows = sorted(_loaded(registry, capsys).to_pylist(), key=lambda row: row["id"])
    assert [row["amount"] for row in rows] == [None, None, Decimal("1.50"), Decimal(7)]
    assert [row["day"] for row in rows] == [date(2026, 7, 1), None, None, date(2026, 7, 2)]
    assert [row["note"] for row in rows] == ["-", "NA", "n/a", "x"]
    assert [row["seen"] is None for row in rows] == [False, True, False, True]


def test_the_newest_row_of_a_key_that_moves_stays(registry, capsys):
    (folder := registry.parent / "feed").mkdir()
    for file, content in FEEDS["rows that move to another day"].files.items():
        (folder / file).write_text(content)
    main(["infer", str(folder)])
    registry.write_text(capsys.readouterr().out)
    found = {row["id"]: str(row["day"]) for row in _loaded(registry, capsys).to_pylist()}
    assert found == {f"k{n}": DAYS[0] if n < 10 else DAYS[1] if n < 20 else DAYS[2] for n in range(40)}
