"""An entry made by looking at a folder loads as a registry, and the rows arrive by it."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.registry.load import read_registry
from hudi_services.sources.infer import profile as look
from hudi_services.sources.infer import sample
from hudi_services.sources.infer.paths import date_pattern
from hudi_services.sources.ingest.run import run_ingest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "orders").mkdir()
    return tmp_path / "orders"


def inferred(folder, capsys, *flags):
    """The text that is printed."""
    assert main(["infer", str(folder), *flags]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def loaded(folder, text, capsys):
    """The rows of the table that the entry makes, and its source."""
    file = folder.parent / "tables.yaml"
    file.write_text(text)
    registry = read_registry(str(file))
    assert not registry.mistakes, registry.mistakes
    (table,) = registry.registry.tables
    assert main(["ingest", "--registry", str(file), "--table", table.name]) == 0, capsys.readouterr().err
    capsys.readouterr()
    rows = HoodieTable.open(table.base_path).read()
    rows = rows.select([name for name in rows.schema.names if not name.startswith("_hoodie_")])
    return sorted(rows.to_pylist(), key=str), yaml.safe_load(text)["tables"][0]


def test_json(folder, capsys):
    rows = [
        {"id": n, "city": f"c{n % 2}", "deep": {"a": [n / 4]}, "day": f"2026-07-0{1 + n % 2}", "at": 1700000000 + n}
        for n in range(30)
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:20]))
    (folder / "b.json.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows[20:]).encode()))
    text = inferred(folder, capsys, "--name", "events")
    found, entry = loaded(folder, text, capsys)
    assert (entry["name"], entry["keys"]) == ("events", {"record_key": ["id"], "partition_by": ["day"]})
    assert "# timestamps: {at: epoch_s}  # are these numbers times?" in text
    wanted = [{**row, "day": date.fromisoformat(row["day"])} for row in rows]
    assert found == sorted(wanted, key=str)


def test_parquet(folder, capsys):
    rows = pa.table(
        {
            "Kunde": ["a", "b", "c"] * 4,
            "nr": range(12),
            "amount": pa.array([Decimal("1.50")] * 12, pa.decimal128(10, 2)),
            "modified": [datetime(2026, 1, 1)] * 12,
        }
    )
    pq.write_table(rows, folder / "x.parquet")
    text = inferred(folder, capsys)
    found, entry = loaded(folder, text, capsys)
    assert entry["keys"] == {"record_key": ["nr"], "ordering": ["modified"]}
    assert "#   amount: decimal(10,2)" in text
    assert found == sorted(rows.to_pylist(), key=str)


NASTY = [
    "yes",
    "null",
    "a: b",
    "# x",
    'q"uote',
    "größe",
    "1",
    "with space",
    "{x}",
    "it's",
    "- dash",
    "日本",
    "_hoodie_record_key",
    "YES",
]


def test_names_that_yaml_would_take_for_something_else(folder, capsys):
    rows = [{"id": f"k{n}", **{name: f"{name} {n}" for name in NASTY}} for n in range(3)]
    (folder / "a.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, entry = loaded(folder, inferred(folder, capsys), capsys)
    new = {name: entry["source"]["rename"].get(name, name) for name in rows[0]}
    assert {name: new[name] for name in NASTY} == {
        **{name: name for name in ("yes", "null", "größe", "日本")},
        "a: b": "a_b",
        "# x": "x",
        'q"uote': "q_uote",
        "1": "column_1",
        "with space": "with_space",
        "{x}": "x_2",
        "it's": "it_s",
        "- dash": "dash",
        "_hoodie_record_key": "hoodie_record_key",
        "YES": "YES_2",
    }
    assert found == sorted(({new[name]: value for name, value in row.items()} for row in rows), key=str)


def test_a_date_of_many_rows_makes_partitions(folder, capsys):
    lines = "".join(f"k{n:02},2026-07-0{1 + n % 2},{'ab'[n % 2]}\n" for n in range(30))
    (folder / "a.csv").write_text("id,day,city\n" + lines)
    rows, entry = loaded(folder, inferred(folder, capsys), capsys)
    assert entry["keys"] == {"record_key": ["id"], "partition_by": ["day"]}
    assert entry["ingest"] == {"hoodie": {"hoodie.index.type": "GLOBAL_SIMPLE"}}
    assert rows[1] == {"id": "k01", "day": date(2026, 7, 2), "city": "b"}


def test_keys_of_two_columns_and_of_rows_that_come_again(folder, capsys):
    (folder / "a.csv").write_text("no,line,v\n" + "".join(f"{n},{m},x\n" for n in range(3) for m in range(3)))
    assert loaded(folder, inferred(folder, capsys), capsys)[1]["keys"] == {"record_key": ["no", "line"]}


def test_a_key_that_comes_again_with_another_time(folder, capsys):
    lines = "".join(f"k{n},same,2026-01-0{m} 00:00:00\n" for n in range(3) for m in range(1, 4))
    (folder / "a.csv").write_text("cust_id,v,updated_at\n" + lines)
    text = inferred(folder, capsys)
    rows, entry = loaded(folder, text, capsys)
    assert (
        entry["keys"] == {"record_key": ["cust_id"], "ordering": ["updated_at"]}
        or len(entry["keys"]["record_key"]) == 2
    )
    assert len(rows) in (3, 9)


def test_samples_are_bounded(folder, capsys, monkeypatch):
    monkeypatch.setattr(sample, "_BYTES", 4000)
    for n in range(30):
        (folder / f"{n:02}.csv").write_text("id,text\n" + "".join(f'{n * 1000 + m},"line\n{m}"\n' for m in range(400)))
    text = inferred(folder, capsys)
    assert "10 of 30 csv files, their beginnings; " in text
    assert "Cannot be loaded" not in text
    assert len(loaded(folder, text, capsys)[0]) == 12_000


def test_bad_rows_and_other_files_are_told(folder, capsys):
    (folder / "a.csv").write_text("id,v\n1,2\n3\n4,5\n")
    (folder / "b.json").write_text("")
    text = inferred(folder, capsys)
    assert "# Cannot be loaded: a.csv, line 3: 1 columns instead of 2" in text
    assert "# There are json files, too" in text


def test_a_row_that_is_nested_too_deep_is_told(folder, capsys):
    (folder / "a.json").write_text('{"id": 1, "v": "x"}\n{"id": 2, "v": ' + "[" * 2000 + "]" * 2000 + "}\n")
    assert "# Cannot be loaded: a.json, line 2: values are nested too deep" in inferred(folder, capsys)


def test_a_few_values_that_are_no_numbers_do_not_make_money_text(folder, capsys):
    for day in range(1, 4):
        lines = [f"{day}{n:03},0{n},{n}.50,2026-07-0{day} 10:00:00\n" for n in range(40)]
        (folder / f"{day}.csv").write_text("id,code,amount,geändert\n" + "".join(lines))
    with (folder / "2.csv").open("a") as file:
        file.write("2999,x,12.5.0,2026-07-02 10:00:00\n")
    text = inferred(folder, capsys)
    assert "# Cannot be loaded: 2.csv, line 42: column amount: " in text
    assert 'amount: "decimal(18,2)"  # a few values are no numbers; string takes these, too?' in text
    assert text.index(" code: string") < text.index(' amount: "decimal')
    assert "code: string" in text
    assert "quarantine: {max_share: 0}  # or 0.01: " in text
    assert '# ordering: ["geändert"]  # does it say which version of a row is newer?' in text
    found, _ = loaded(folder, text.replace("max_share: 0}", "max_share: 0.01}"), capsys)
    assert len(found) == 120
    assert found[0]["amount"] == Decimal("0.50")


def test_numbers_with_a_few_mistakes_in_one_file_beside_nulls_and_another_name(folder, capsys):
    values = ["NA"] * 20 + ["abc", "12,5,0"] + [f"1.{n:03},5" for n in range(60)]
    (folder / "a.csv").write_text("id;Betrag €\n" + "".join(f"{n};{value}\n" for n, value in enumerate(values)))
    text = inferred(folder, capsys)
    assert text.count("# Cannot be loaded: a.csv, line ") == 2
    assert '"Betrag €": "decimal(18,1)"' in text
    found, _ = loaded(folder, text.replace("max_share: 0}", "max_share: 0.1}"), capsys)
    assert len(found) == 80
    assert {row["Betrag"] for row in found} == {None, *(Decimal(f"1{n:03}.5") for n in range(60))}


def test_many_bad_rows_are_counted(folder, capsys):
    (folder / "a.csv").write_text("id,v\n" + "".join(f"{n},{'x' if n < 5 else n / 4}\n" for n in range(100)))
    text = inferred(folder, capsys)
    assert text.count("# Cannot be loaded: a.csv, line ") == 3
    assert "# Cannot be loaded: … and 2 more rows" in text


def test_a_column_that_is_torn_beside_a_broken_file(folder, capsys):
    (folder / "a.csv").write_text("id,v\n" + "".join(f"{n},{n}.5\n" for n in range(30)))
    (folder / "b.csv").write_text("id,v\n100,1.5.0\n")
    (folder / "c.csv.gz").write_bytes(gzip.compress(b"id,v\n3,1\n")[:-6])
    text = inferred(folder, capsys)
    assert "# Cannot be read, and was left out: c.csv.gz (" in text
    assert "# Cannot be loaded: b.csv, line 2: column v: " in text
    assert "quarantine: {files: stop, max_share: 0}  # or skip: " in text
    found, _ = loaded(folder, text.replace("files: stop, max_share: 0}", "files: skip, max_share: 0.1}"), capsys)
    assert len(found) == 30


def test_empty_files_are_told(folder, capsys):
    (folder / "a.csv").write_text("id,v\n1,2\n")
    for n in range(7):
        (folder / f"empty{n}.csv").write_text("")
    text = inferred(folder, capsys)
    names = ", ".join(f"empty{n}.csv" for n in range(5))
    assert f"# Empty (0 bytes), and was left out: {names} … and 2 more\n" in text
    assert loaded(folder, text.replace("files: stop", "files: skip"), capsys)[0] == [{"id": 1, "v": 2}]


def test_a_column_of_texts_and_some_numbers_is_text(folder, capsys):
    (folder / "1.csv").write_text("id,house\n" + "".join(f"{n},{n}a\n" for n in range(20)))
    (folder / "2.csv").write_text("id,house\n" + "".join(f"{n},{n}\n" for n in range(20, 40)))
    text = inferred(folder, capsys)
    assert "house: string" in text
    assert len(loaded(folder, text, capsys)[0]) == 40


def test_a_broken_file_is_told_and_left_out(folder, capsys):
    (folder / "a.csv").write_bytes("id;city\n1;Malmö\n2;Århus\n".encode())
    (folder / "b.csv").write_bytes(b"\x1f\x8b\x08\x00 no text" * 9)
    (folder / "c.csv.gz").write_bytes(gzip.compress(b"id;city\n3;x\n")[:-6])
    text = inferred(folder, capsys)
    assert "# Cannot be read, and was left out: b.csv (" in text
    assert "# Cannot be read, and was left out: c.csv.gz (" in text
    assert "        encoding:" not in text
    found, entry = loaded(folder, text.replace("files: stop", "files: skip"), capsys)
    assert [row["city"] for row in found] == ["Malmö", "Århus"]
    assert entry["source"]["quarantine"] == {"files": "skip"}


def test_each_file_is_loaded_once(folder, capsys, monkeypatch):
    """Again only without those that are broken: they may have decided how the others are read."""
    loads = []
    monkeypatch.setattr(look, "run_ingest", lambda *given: (loads.append(given), run_ingest(*given))[1])
    for n in range(3):
        (folder / f"{n}.json").write_text(json.dumps({"id": n, "v": 1}) + "\n")
    assert "infer: 3 of 3 json files; 3 rows." in inferred(folder, capsys)
    assert len(loads) == 1
    (folder / "3.json").write_text("no object\n")
    (folder / "4.json").write_text('{"id": 4, "v": 1}\n{"id": 5, "v": {"a": 1}}\n')
    loads.clear()
    text = inferred(folder, capsys)
    assert "# Cannot be read, and was left out: 3.json (no JSON object in " in text
    assert '# Cannot be loaded: 4.json, line 2: column v: the object {"a": 1} is no bigint' in text
    assert "infer: 4 of 5 json files; 4 rows." in text
    assert len(loads) == 2


def test_a_file_of_bytes_that_are_a_header_in_some_encoding(folder, capsys):
    (folder / "a.csv").write_text("id,city\n1,x\n2,y\n")
    (folder / "b.csv").write_bytes(bytes([0xBA, 0x81, 0x5A, 0x41, 0x05, 0xFE, 0xB2, 0x69, 0x10]))
    assert "# Cannot be read, and was left out: b.csv (" in inferred(folder, capsys)


def test_signs_that_no_column_may_have(folder, capsys):
    (folder / "a.csv").write_text("id²,½,a b-c,9\n1,x,y,z\n")
    text = inferred(folder, capsys)
    found, _ = loaded(folder, text, capsys)
    assert found == [{"id": 1, "column": "x", "a_b_c": "y", "column_9": "z"}]


def test_a_folder_of_nothing_but_broken_files(folder, capsys):
    (folder / "a.parquet").write_bytes(b"PAR1 no more")
    assert main(["infer", str(folder)]) == 1
    told = capsys.readouterr().err
    assert f"None of the parquet files of {folder} that were looked at can be read" in told
    assert "a.parquet: " in told


def test_a_key_is_told_before_a_pair_when_its_rows_come_again_later(folder, capsys):
    rows = [f"{n % 20:03d},{n % 30:05d},2026-11-{1 + n // 20:02d}T00:00:00" for n in range(60)]
    (folder / "a.csv").write_text("\n".join(["id,zip,updated_at", *rows]) + "\n")
    text = inferred(folder, capsys)
    assert "record_key: [id]  # occurs several times, each with another updated_at: the newest row is kept?" in text


def test_a_folder_without_files(folder, capsys):
    (folder / "x.txt").write_text("")
    assert main(["infer", str(folder)]) == 1
    assert "no files of a known format" in capsys.readouterr().err
    assert main(["infer", str(folder / "gone")]) == 1
    assert f"Source folder {folder / 'gone'} is missing" in capsys.readouterr().err
    assert main(["infer", str(folder / "x.txt")]) == 1
    told = capsys.readouterr().err
    assert f"Source folder {folder / 'x.txt'} is a file. To do: name the folder that it is in: {folder}." in told


def test_json_for_programs(folder, capsys):
    (folder / "a.csv").write_text("id,v\n1,2\n")
    assert json.loads(inferred(folder, capsys, "--json"))["tables"][0]["keys"] == {"record_key": ["id"]}


@pytest.mark.parametrize(
    ("paths", "wanted"),
    [
        (["dt=2026-01-31/a.csv", "dt=2026-02-01/a.csv"], "dt=%Y-%m-%d"),
        (["year=2026/month=01/day=31/a.csv"], "year=%Y/month=%m/day=%d"),
        (["orders_2026-01-31.csv"], "%Y-%m-%d"),
        (["2026/01/31/a.csv"], "%Y/%m/%d"),
        (["orders_20260131.csv"], "%Y%m%d"),
        (["orders_20261331.csv"], None),
        (["dt=2026-01-31/a.csv", "a.csv"], None),
        (["a.csv"], None),
        ([], None),
    ],
)
def test_dates_in_paths(paths, wanted):
    assert date_pattern(paths) == wanted


def test_csv_of_another_country(folder, capsys):
    for day in range(1, 4):
        (folder / f"dt=2026-07-0{day}").mkdir()
        lines = "".join(f'00{day}{n};{n}.{day}00,50;0{day}.07.2026 1{n}:00;stra\u00dfe "{n}"\n' for n in range(1, 5))
        text = f"order_id;amount;updated_at;street name\n{lines}".replace(' "1"', "")
        text = text.replace('straße "', "straße ").replace('"\n', "\n")
        (folder / f"dt=2026-07-0{day}" / "part.csv").write_bytes(text.encode("cp1252"))
    text = inferred(folder, capsys)
    rows, entry = loaded(folder, text, capsys)
    assert entry["name"] == "orders"
    assert entry["keys"] == {"record_key": ["order_id"], "ordering": ["updated_at"]}
    source = entry["source"]
    assert source["date_pattern"] == "dt=%Y-%m-%d"
    assert source["csv"] == {"delimiter": ";", "encoding": "cp1252", "decimal_mark": ",", "thousands_mark": "."}
    assert source["schema"] == {
        "order_id": "string",
        "amount": "decimal(18,2)",
        "updated_at": "string",
        "street name": "string",
    }
    assert source["timestamps"] == {"updated_at": "%d.%m.%Y %H:%M"}
    assert "# 3 of 3 csv files" in text.replace("By hudi-services infer: ", "")
    assert 'updated_at: "%d.%m.%Y %H:%M"  # a zone' in text
    assert len(rows) == 12
    assert rows[0] == {
        "order_id": "0011",
        "amount": Decimal("1100.50"),
        "updated_at": datetime(2026, 7, 1, 11),
        "street_name": "straße",
    }


def test_without_a_header(folder, capsys):
    (folder / "a.csv").write_text("".join(f"{n}|2.5|2026-01-{n:02}\n" for n in range(1, 21)))
    text = inferred(folder, capsys)
    assert loaded(folder, text, capsys)[1]["source"]["csv"] == {
        "delimiter": "|",
        "header": ["column_1", "column_2", "column_3"],
    }
    assert "the first line looks like a row; name the columns, or true?" in text


def test_columns_without_a_value_stay_open(folder, capsys):
    (folder / "a.json").write_text('{"id": 1, "tags": [], "of": {"x": null, "y": 1}}\n')
    text = inferred(folder, capsys)
    assert "# no value in the sample, so the first load with one shows the type: tags, of.x\n" in text
    (folder / "b.json").write_text('{"id": 2, "tags": ["t"], "of": {"x": 5, "y": 1}}\n')
    found, _ = loaded(folder, text, capsys)
    assert found == [{"id": 1, "of": {"y": 1, "x": None}, "tags": []}, {"id": 2, "of": {"y": 1, "x": 5}, "tags": ["t"]}]


def test_a_folder_without_any_value_is_named(folder, capsys):
    (folder / "a.csv").write_text("id,name\n")
    assert main(["infer", str(folder)]) == 1
    assert f"No row of {folder} has a value" in capsys.readouterr().err


def test_numbers_of_seconds_and_of_milliseconds_in_one_column_stay_numbers_with_a_remark(folder, capsys):
    rows = [{"id": n, "created_at": (1700000000 + n) * (1000 if n % 10 == 0 else 1)} for n in range(30)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = inferred(folder, capsys)
    found, entry = loaded(folder, text, capsys)
    remark = (
        "created_at: 30 numbers look like times in several units (27 as epoch_s, 3 as epoch_ms), so it stays a number."
    )
    assert f"      # {remark}" in text
    assert "# timestamps: " not in text
    assert entry["source"]["schema"]["created_at"] == "bigint"
    assert found == sorted(rows, key=str)
