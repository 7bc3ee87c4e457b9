"""Patterns of a source that match no file."""

from __future__ import annotations

import pytest

from hudi_services.sources.ingest.files.pattern_check import idle_patterns, idle_patterns_of

PATHS = ["orders/a.csv", "orders/b.csv", "readme.txt", "users/c.csv.gz"]
THERE = "2 of 4 files below /land end in .csv, such as orders/"


@pytest.mark.parametrize(
    ("patterns", "sentences"),
    [
        (["orders/*.csv"], []),
        (["orders/*.cvs"], ["pattern 'orders/*.cvs' matches nothing: " + THERE, "; 'orders/*.csv' would match 2"]),
        (["order/*.csv"], ["pattern 'order/*.csv' matches nothing: " + THERE]),
        (["*.csv", "x.csv"], ["pattern 'x.csv' matches nothing: " + THERE]),
        ([], []),
    ],
)
def test_the_sentence_has_what_is_there(patterns, sentences):
    texts = idle_patterns_of(PATHS, "/land", patterns, "csv")
    assert len(texts) == bool(sentences)
    assert all(part in texts[0] for part in sentences)
    assert ("would match" in "".join(texts)) == (len(sentences) == 2)


def test_the_format_counts_as_a_pattern():
    assert idle_patterns_of(PATHS, "/land", [], "parquet") == [
        "format parquet matches nothing: 2 of 4 files below /land end in .csv, such as orders/b.csv; '*.csv' would match 2"
    ]
    assert idle_patterns_of(["a", "b"], "/land", [], "csv") == [
        "format csv matches nothing: 2 of 2 files below /land have no ending, such as b; '*' would match 2"
    ]


def test_workbooks_of_excel_have_a_remedy():
    (text,) = idle_patterns_of(["a.XLSX"], "/land", [], "csv")
    assert (
        "ends in .XLSX, such as a.XLSX, a workbook of Excel; save each sheet as `CSV UTF-8` in Excel, or convert it: "
        in text
    )
    assert text.endswith("`soffice --headless --convert-to csv /land/a.XLSX`")


def test_an_empty_folder_waits_for_its_first_file():
    assert idle_patterns_of([], "/land", ["*.cvs"], "csv") == []


def test_the_walk_ends_with_the_first_file_of_each_pattern(tmp_path):
    for name in ("a/1.csv", "b/2.csv", "_tmp/3.cvs", "table/4.cvs", ".hidden.cvs"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folder, own = str(tmp_path), [f"{tmp_path}/table"]
    assert idle_patterns(folder, ["*.csv"], "csv", own) == []
    (text,) = idle_patterns(folder, ["*.csv", "*.cvs"], "csv", own)
    assert text.startswith("pattern '*.cvs' matches nothing: 2 of 2 files below ")
    (tmp_path / "b/2.csv").unlink()
    (tmp_path / "a/1.csv").unlink()
    assert idle_patterns(folder, ["*.cvs"], "csv", own) == [], "no file that a load would look at"
