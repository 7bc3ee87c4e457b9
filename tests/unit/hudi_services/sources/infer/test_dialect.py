"""Headers of CSV files whose columns are all text."""

from __future__ import annotations

import pytest

from hudi_services.sources.infer.entry import entry_text
from hudi_services.sources.infer.profile import look_at

TEXTS = "Ada,London\nBert,Paris\nCleo,Rome\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": TEXTS, "b.csv": "Dora,Oslo\nEmil,Bern\n"},  # a header would be the same
        {"a.csv": TEXTS + "Finn,London\n"},  # a name that is a value of its column, too
    ],
)
def test_first_lines_of_text_that_are_rows_are_not_lost(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    finding = look_at(str(tmp_path), None, None)
    assert finding.rows == sum(text.count("\n") for text in files.values())
    assert "header: [column_1, column_2]  # the first line looks like a row; name the columns, or true?" in entry_text(
        finding
    )


def test_a_header_that_only_text_follows_has_a_remark(tmp_path):
    (tmp_path / "a.csv").write_text(f"name,city\n{TEXTS}")
    text = entry_text(look_at(str(tmp_path), None, None))
    assert "header: true  # each column is text, so the first line may be a row; if it is, name the columns?" in text
    (tmp_path / "a.csv").write_text(f"name,city\n{TEXTS}name,city\n{TEXTS}")  # two files, one after the other
    assert "header: true  # each column is text" in entry_text(look_at(str(tmp_path), None, None))
    (tmp_path / "a.csv").write_text("name,city,born\nAda,London,1815\nBert,Paris,1900\n")
    assert "header:" not in entry_text(look_at(str(tmp_path), None, None))


@pytest.mark.parametrize(
    "title", ["Sales of November\nprinted 2026-11-20\n\n", "Sales, all\n", "Sales of November\n\n\n"]
)
def test_lines_of_a_title_above_the_header_are_skipped(tmp_path, title):
    (tmp_path / "a.csv").write_text(title + "id,city,amount\n" + "".join(f"{n},Oslo,{n}.5\n" for n in range(30)))
    finding = look_at(str(tmp_path), None, None)
    text = entry_text(finding)
    assert f"skip_rows: {title.count(chr(10))}  # lines before the header?" in text
    assert "record_key: [id]" in text
    assert finding.rows == 30


def test_names_that_a_header_lacks_or_repeats_are_made(tmp_path):
    rows = "".join(f"{n},N{n},{n},{n * 2},x,0{n}\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"ID,name,amount,Amount,,column_5\n{rows}")
    (tmp_path / "b.csv").write_text(f"ID,name,amount,Amount,,column_5\n{rows}")
    finding = look_at(str(tmp_path), None, None)
    text = entry_text(finding)
    assert "header: [ID, name, amount, Amount_2, column_6, column_5]  # in place of the first line" in text
    assert "skip_rows: 1\n" in text
    assert finding.rows == 60


def test_made_names_are_those_that_a_table_may_have(tmp_path):
    rows = "".join(f"{number},x,{number} n,{number} m,{number}.5,7\n" for number in range(40))
    (tmp_path / "a.csv").write_text(f"id,, Name ,Name,Price (EUR),_hoodie_key\n{rows}")
    finding = look_at(str(tmp_path), None, None)
    assert finding.rows == 40
    assert "header: [id, column_2, Name, Name_2, Price_EUR, hoodie_key]" in entry_text(finding)


def _feed(tmp_path, encodings, value="x"):
    for number, encoding in enumerate(encodings):
        rows = "".join(f"{number * 30 + n},{value}{n}\n" for n in range(30))
        (tmp_path / f"{number}.csv").write_text(f"id,v\n{rows}", encoding=encoding)
    finding = look_at(str(tmp_path), None, None)
    return finding, entry_text(finding)


def test_one_file_in_utf_16_does_not_decide_for_the_others(tmp_path):
    finding, text = _feed(tmp_path, ["utf-8", "utf-8", "utf-16"])
    assert (finding.rows, "  encoding:" in text) == (60, False)
    assert "Cannot be read, and was left out: 2.csv (text in UTF-16; declare `encoding: utf-16`, or convert" in text


def test_most_files_in_utf_16_decide(tmp_path):
    finding, text = _feed(tmp_path, ["utf-16", "utf-8", "utf-16"])
    assert (finding.rows, "encoding: utf-16" in text, list(finding.broken)) == (60, True, ["1.csv"])


def test_one_file_of_another_encoding_does_not_garble_the_others(tmp_path):
    finding, text = _feed(tmp_path, ["utf-8", "utf-8", "cp1252"], "ü")
    assert (finding.rows, "  encoding:" in text) == (60, False)
    assert "2.csv" in text


def test_most_files_of_another_encoding_decide_and_the_rest_is_named(tmp_path):
    _, text = _feed(tmp_path, ["utf-8", "cp1252", "cp1252"], "ü")
    assert (
        "encoding: cp1252  # it is no UTF-8; cp1252 is the most usual of the others. 1 file in UTF-8 would be read wrongly"
        in text
    )


def test_blanks_around_a_name_in_one_file_make_no_second_column(tmp_path):
    for name, header in (("a", " id ,v"), ("b", "id,v"), ("c", "id,v")):
        (tmp_path / f"{name}.csv").write_text(f"{header}\n" + "".join(f"{name}{n},{n}\n" for n in range(30)))
    finding = look_at(str(tmp_path), None, None)
    assert (finding.rows, list(finding.types), dict(finding.renamed)) == (60, ["id", "v"], {})
    assert "a.csv (the names ' id ' differ by blanks from 'id' of other files; deliver one form)" in entry_text(finding)


@pytest.mark.parametrize(
    "title",
    [
        "Sales of November;;;\n",
        ";;Sales;\n;;;\n",
        '"Sales of\nNovember";;;\n',
        "\nSales;;;\n\n",
        "Sales;;;\nprinted 2026-11-20;;;\n",
    ],
)
def test_titles_with_the_delimiters_of_the_header_are_skipped(tmp_path, title):
    rows = "".join(f"{n};Oslo;{n}.5;x\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"{title}id;city;amount;note\n{rows}")
    finding = look_at(str(tmp_path), None, None)
    text = entry_text(finding)
    assert "skip_rows: " in text
    assert "record_key: [id]" in text
    assert "header:" not in text
    assert finding.rows == 30


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("id;;", "1;a;b\n2;c;d\n3;e;f\n"),  # names are missing above rows
        ("id;", "a;b\nc;d\n"),  # a header of one name above two columns of text
        ("id;city;", "a;b;c\nd;e;f\n"),
    ],
)
def test_headers_that_lack_names_are_no_titles(tmp_path, header, rows):
    (tmp_path / "a.csv").write_text(f"{header}\n{rows}")
    finding = look_at(str(tmp_path), None, None)
    assert "lines before the header" not in entry_text(finding)
    assert finding.rows == rows.count("\n")


def test_faults_of_a_header_are_named(tmp_path):
    (tmp_path / "a.csv").write_text("id,unit,Unit,,id,\n" + "".join(f"{n},x,y,{n},z,{n}\n" for n in range(30)))
    text = entry_text(look_at(str(tmp_path), None, None))
    where = "where columns 4, 6 have no name and unit and Unit differ in case alone and id is there twice?"
    assert f"# in place of the first line, {where}" in text


def test_columns_of_json_that_differ_in_case_alone_are_named(tmp_path):
    (tmp_path / "a.json").write_text("".join(f'{{"id": {n}, "unit": "x", "Unit": "y"}}\n' for n in range(30)))
    text = entry_text(look_at(str(tmp_path), None, None))
    assert "Unit: Unit_2  # unit and Unit differ in case alone; are they two columns?" in text
