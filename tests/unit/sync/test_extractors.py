"""Partition paths as values: the expected ones are what Hudi 1.2.0's extractors give."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from hoodie.sync.extractors import extract, extractor_of, infer_extractor
from hoodie.sync.model import Column

MULTI, DAY, HIVE, SINGLE, NONE = (
    "MultiPartKeysValueExtractor",
    "SlashEncodedDayPartitionValueExtractor",
    "HiveStylePartitionValueExtractor",
    "SinglePartPartitionValueExtractor",
    "NonPartitionedExtractor",
)


@pytest.mark.parametrize(
    ("name", "path", "fields", "values"),
    [
        (MULTI, "a/b", ["x", "y"], ("a", "b")),
        (MULTI, "x=a/Y=b", ["x", "y"], ("a", "b")),
        (DAY, "2020/01/06", ["d"], ("2020-01-06",)),
        (DAY, "year=2020/month=1/day=6", ["d"], ("2020-01-06",)),
        (HIVE, "d=2020-01-06", ["d"], ("2020-01-06",)),
        (HIVE, "d=__HIVE_DEFAULT_PARTITION__", ["d"], ("__HIVE_DEFAULT_PARTITION__",)),
        (SINGLE, "2020/01/06", ["d"], ("2020/01/06",)),
        (NONE, "", [], ()),
    ],
)
def test_values(name, path, fields, values):
    assert extractor_of("org.apache.hudi.hive." + name).values(path, fields) == values


@pytest.mark.parametrize(
    ("name", "path", "columns", "found"),
    [
        (MULTI, "a/b", "x string", "2 values for 1"),
        (MULTI, "x=a/z=b", "x string,y string", "names the column 'z'"),
        (DAY, "2020/13/01", "d string", "not yyyy/MM/dd"),
        (DAY, "2020-01-01", "d string", "not yyyy/MM/dd"),
        (HIVE, "2020", "d string", "not column=value"),
        (HIVE, "d=a/e=b", "d string", "not column=value"),
        (SINGLE, "abc", "n int", "'abc' is not a valid int"),
        (SINGLE, "2020-02-30", "d date", "not a valid date"),
        (NONE, "a", "", "the table has partitions"),
    ],
)
def test_what_does_not_fit_is_named(name, path, columns, found):
    named = [Column(*column.split()) for column in columns.split(",") if column]
    with pytest.raises(ConfigError, match=found) as refused:
        extract(extractor_of(name), [path], named)
    assert repr(path) in str(refused.value)


def test_null_partition_fits_every_type():
    null = "n=__HIVE_DEFAULT_PARTITION__"
    assert extract(extractor_of(HIVE), [null], [Column("n", "int")]) == {null: ("__HIVE_DEFAULT_PARTITION__",)}


def test_decoding_and_paths_that_collide():
    column = [Column("p", "string")]
    assert extract(extractor_of(MULTI), ["p=a%3Ab"], column) == {"p=a%3Ab": ("a%3Ab",)}
    assert extract(extractor_of(MULTI), ["p=a%3Ab"], column, decode=True) == {"p=a%3Ab": ("a:b",)}
    with pytest.raises(ConfigError, match="have the same values"):
        extract(extractor_of(DAY), ["2020/01/06", "2020/1/6"], column)


@pytest.mark.parametrize("name", ["NoSuchExtractor", "com.example.HiveStylePartitionValueExtractor"])
def test_unknown_extractor(name):
    with pytest.raises(ConfigError, match=rf"{name}.*SlashEncodedDay"):
        extractor_of(name)


@pytest.mark.parametrize(
    ("paths", "fields", "name"),
    [
        ([], [], NONE),
        ([], ["d"], MULTI),
        (["d=1", "d=2"], ["d"], HIVE),
        (["a", "b"], ["d"], MULTI),
        (["2020/01/01", "2021/02/03"], ["d"], DAY),
        (["2020/01/01", "2021/02"], ["d"], SINGLE),
        (["a/b"], ["x", "y"], MULTI),
    ],
)
def test_inferred(paths, fields, name):
    assert infer_extractor(paths, fields).name == name


def test_inference_says_which_path_stands_in_the_way():
    with pytest.raises(ConfigError, match=r"'a/b'.*2 values for 3"):
        infer_extractor(["1/2/3", "a/b"], ["x", "y", "z"])
