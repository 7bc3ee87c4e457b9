"""Partition paths: hive style, url encoding, null and empty values, and values that are no folder names."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import RecordKeyError
from hoodie.keygen import DEFAULT_PARTITION, PartitionPaths, escape_path_name


def path(value, hive=False, encode=False):
    return PartitionPaths(("p",), hive, encode).of(pa.table({"p": pa.array([value], pa.string())}))[0].as_py()


@pytest.mark.parametrize(
    ("value", "plain", "encoded"),
    [
        ("2024-01-02", "2024-01-02", "2024-01-02"),
        ("São Paulo", "São Paulo", "São Paulo"),
        ("a/b", "a/b", "a%2Fb"),
        ("a=b", "a=b", "a%3Db"),
        ("100%", "100%", "100%25"),
        (None, DEFAULT_PARTITION, DEFAULT_PARTITION),
        ("", DEFAULT_PARTITION, DEFAULT_PARTITION),
    ],
)
def test_the_folder_of_a_value(value, plain, encoded):
    assert path(value) == plain
    assert path(value, hive=True) == f"p={plain}"
    assert path(value, encode=True) == encoded
    assert path(value, hive=True, encode=True) == f"p={encoded}"


def test_what_hive_escapes_is_escaped_and_nothing_else():
    text = "".join(map(chr, range(1, 128)))
    plain = [part for part in escape_path_name(text).replace("%", "\n%").split("\n") if part]
    escaped = "".join(chr(int(part[1:3], 16)) for part in plain if part[0] == "%")
    assert set(escaped) == {*map(chr, range(1, 32)), *"\"#%'*/:=?\\{[]^\x7f"}
    assert escape_path_name("\n\x7f") == "%0A%7F"


@pytest.mark.parametrize("value", ["..", ".", "a/../b", "/etc", "a//b", "a/", "12:30", ".hoodie", ".hoodie/timeline"])
def test_a_value_that_would_leave_its_folder_is_refused(value):
    with pytest.raises(RecordKeyError, match=r"'p' has a value that is no folder name.*urlencode=true"):
        path(value)


@pytest.mark.parametrize("value", ["x" * 256, "é" * 128, "a/" + "x" * 256, "a\0b"])
@pytest.mark.parametrize("encode", [False, True])
def test_a_name_that_no_file_system_takes_is_refused(value, encode):
    if encode:
        value = value.replace("/", "")
    with pytest.raises(
        RecordKeyError, match=r"'p' has a value that is no folder name, with a zero byte or more than 255"
    ):
        path(value, encode=encode)


def test_rows_without_a_partition_path_are_told():
    rows = pa.table(
        {"a": ["x", "..", None, "y", "", "x" * 256], "b": pa.array(["1", "1", "12:30", "a//b", "c/d", "\0"])}
    )
    plain = PartitionPaths(("a", "b"), False, False)
    assert plain.unusable(rows).to_pylist() == [False, True, True, True, False, True]
    assert PartitionPaths(("a",), False, True).unusable(rows).to_pylist() == [False, True, False, False, False, True]
    assert plain.of(rows.filter(pc.invert(plain.unusable(rows)))).to_pylist() == ["x/1", f"{DEFAULT_PARTITION}/c/d"]
    assert PartitionPaths((), False, False).unusable(rows).to_pylist() == [False] * 6
    days = pa.table({"p": pa.array(["2026-01-05", None, "a"])})
    assert PartitionPaths(("p",), False, False, slash_dates=True).unusable(days).to_pylist() == [False, True, True]
    for odd in (pa.array([1.5, 1e300]), pa.array([0, 10_000_000], pa.date32())):
        assert PartitionPaths(("p",), False, False).unusable(pa.table({"p": odd})).to_pylist() == [False, True]
    with pytest.raises(RecordKeyError, match="missing"):
        plain.unusable(rows.select(["a"]))


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=8))
def test_encoded_and_hive_style_every_value_is_one_folder_below_the_table(value):
    folder = path(value, hive=True, encode=True)
    assert folder.startswith("p=")
    assert "/" not in folder
    assert ":" not in folder


def test_several_columns_nest():
    table = pa.table({"a": ["x", None, "x"], "b": [1, 2, None], "c": [date(2024, 1, 2)] * 3})
    assert PartitionPaths(("a", "b", "c"), False, False).of(table).to_pylist() == [
        "x/1/2024-01-02",
        f"{DEFAULT_PARTITION}/2/2024-01-02",
        f"x/{DEFAULT_PARTITION}/2024-01-02",
    ]
    assert PartitionPaths(("b", "a"), True, False).of(table)[0].as_py() == "b=1/a=x"


@pytest.mark.parametrize("rows", [0, 3])
def test_a_table_without_partitions_has_one_empty_path(rows):
    table = pa.table({"id": pa.nulls(rows, pa.int64())})
    assert PartitionPaths((), True, True).of(table).to_pylist() == [""] * rows


def test_chunks_and_dictionaries_make_no_difference():
    values = ["x", None, "", "y", "x"]
    chunked = pa.chunked_array([pa.array(values[:2], pa.string()), pa.array(values[2:])])
    for column in (chunked, chunked.dictionary_encode(), chunked.cast(pa.large_string())):
        made = PartitionPaths(("p",), True, False).of(pa.table({"p": column}))
        assert made.to_pylist() == ["p=x", f"p={DEFAULT_PARTITION}", f"p={DEFAULT_PARTITION}", "p=y", "p=x"]


def test_a_missing_column_is_named():
    with pytest.raises(RecordKeyError, match=r"Partition column 'p' is missing.*columns id"):
        PartitionPaths(("p",), False, False).of(pa.table({"id": [1]}))


def test_days_become_nested_folders_and_nothing_else_does():
    paths = PartitionPaths(("p",), False, False, slash_dates=True)
    assert paths.of(pa.table({"p": pa.array([date(2026, 1, 5), date(999, 12, 31)])})).to_pylist() == [
        "2026/01/05",
        "0999/12/31",
    ]
    for value in (None, "", "a-b", "2026-1-5", "2026-01-05 "):
        with pytest.raises(RecordKeyError, match="'p' has a value that is no day"):
            paths.of(pa.table({"p": pa.array(["2026-01-05", value])}))
