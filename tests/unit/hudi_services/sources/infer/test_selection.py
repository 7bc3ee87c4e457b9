"""The files of a folder or of a pattern."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.infer.selection import select, split_pattern, stem


@pytest.fixture
def folder(tmp_path):
    def make(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("id\n")
        return str(tmp_path)

    return make


def selected(*arguments):
    selection = select(*arguments)
    return [file.path for file in selection.files], selection.file_format, selection.patterns, selection.is_tabbed


def test_paths_with_a_pattern(tmp_path):
    assert split_pattern("/data/landing/*.csv") == ("/data/landing", "*.csv")
    assert split_pattern("s3://lake/in/dt=*/a_?.csv") == ("s3://lake/in", "dt=*/a_?.csv")
    assert split_pattern("/data/landing") == ("/data/landing", None)
    assert (split_pattern("/*.csv"), split_pattern("*.csv")) == (("/", "*.csv"), (".", "*.csv"))
    (tmp_path / "a[1]").mkdir()
    assert split_pattern(f"{tmp_path}/a[1]") == (f"{tmp_path}/a[1]", None), "a folder with such a name"


def test_names_of_tables():
    assert [stem(text) for text in ("orders_*.csv", "in/new-orders-2026*", "*.csv")] == [
        "orders",
        "new_orders_2026",
        "",
    ]


def test_a_folder(folder):
    place = folder("a.csv", "b.csv.gz", "c.tsv", "d.json")
    assert selected(place, None, None) == (["a.csv", "b.csv.gz"], "csv", (), False)
    assert selected(place, None, "json") == (["d.json"], "json", (), False)
    assert select(place, None, None).others == ["json", "tsv"]
    with pytest.raises(SourceError, match="has no files of the format parquet"):
        select(place, None, "parquet")


@pytest.mark.parametrize("file_format", [None, "csv"])
def test_a_folder_of_files_with_tabs(folder, file_format):
    files = ["a.tsv", "b.TAB", "c.tsv.gz"]
    expected = files, "csv", ("*.TAB", "*.tsv", "*.tsv.gz"), True
    assert selected(folder(*files), None, file_format) == expected


def test_a_pattern(folder):
    place = folder("orders_1.csv", "in/orders_2.csv", "users_1.csv", "a.tsv", "b.txt")
    assert selected(place, "orders_*", None) == (["in/orders_2.csv", "orders_1.csv"], "csv", ("orders_*",), False)
    assert selected(place, "*.tsv", None) == (["a.tsv"], "csv", ("*.tsv",), True)
    assert selected(place, "*.txt", "csv") == (["b.txt"], "csv", ("*.txt",), False)
    for pattern, error, fix in (
        ("x*", "No file below .* matches 'x\\*'", "put it in quotes"),
        ("*.txt", "The endings of the files of '\\*.txt' name no format", "name it with --format"),
        ("*", "The files of '\\*' do not have one format", "such as '*.csv'"),
    ):
        with pytest.raises(SourceError, match=error) as raised:
            select(place, pattern, None)
        assert fix in str(raised.value.fix)


def test_a_folder_of_workbooks_has_a_remedy(folder):
    place = folder("a.xlsx")
    with pytest.raises(
        SourceError, match=r"files that end with '\.xlsx'\. To do: save each sheet as `CSV UTF-8` in Excel"
    ):
        select(place, None, None)
