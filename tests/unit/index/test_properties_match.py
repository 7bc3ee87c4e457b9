"""Properties of another table, copied over those of a table, are found, and no write goes on with them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.properties.store import PROPERTIES
from hoodie.doctor.diagnosis import diagnose
from hoodie.errors import CorruptTableError
from hoodie.index.properties_match import are_suspect, properties_mismatch, refuse_foreign_keys
from hoodie.keygen import RecordKeys
from hoodie.view import TableView
from tests.support.tables import SMALL_BLOOM, batch, create

ROWS = batch([("a", "p", 1, 11), ("b", "p", 1, 12), ("c", "q", 1, 13)])
KEYS = "hoodie.table.recordkey.fields"
PARTITIONS = "hoodie.table.partition.fields"
HIVE = "hoodie.datasource.write.hive_style_partitioning"


def filled(path, **options):
    table = create(path, **options)
    table.write(ROWS, "upsert" if options.get(KEYS, "id") else "insert", SMALL_BLOOM)
    return table


def copied_over(tmp_path, own, other):
    """A table of the options `own` with the properties of one of the options `other`."""
    filled(tmp_path / "own", **own)
    create(tmp_path / "other", **other)
    (tmp_path / "own" / PROPERTIES).write_bytes((tmp_path / "other" / PROPERTIES).read_bytes())
    return HoodieTable.open(tmp_path / "own")


def mismatch(table):
    state = table.state()
    return properties_mismatch(state, TableView(state).slices)


@pytest.mark.parametrize(
    ("own", "other", "text"),
    [
        ({}, {KEYS: "value"}, "where they make '1"),
        ({}, {KEYS: "id,ts"}, "where they make 'id:"),
        ({}, {KEYS: "ride"}, "no column 'ride' in"),
        ({}, {KEYS: "", "hoodie.table.ordering.fields": ""}, "and no key column"),
        ({}, {PARTITIONS: "value"}, "where they make 'value=1"),
        ({}, {PARTITIONS: "", HIVE: "false"}, "where they make ''"),
        ({}, {PARTITIONS: "city"}, "no column 'city' in"),
        ({PARTITIONS: "", HIVE: "false"}, {}, "partition '' in"),
    ],
    ids=str,
)
def test_keys_and_partitions_of_another_table(tmp_path, own, other, text):
    assert text in mismatch(copied_over(tmp_path, own, other))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {KEYS: "id,ts"},
        {KEYS: "", "hoodie.table.ordering.fields": ""},
        {PARTITIONS: "", HIVE: "false"},
        {PARTITIONS: "value"},
        {PARTITIONS: "part,value"},
        {"hoodie.populate.meta.fields": "false"},
    ],
    ids=str,
)
def test_own_properties_agree(tmp_path, options):
    assert mismatch(filled(tmp_path, **options)) is None


def test_a_key_without_the_name_of_its_column_agrees(tmp_path):
    """Releases of Hudi differ in that (HUDI-7001), and the doctor has a finding of its own."""
    several = copied_over(tmp_path, {}, {PARTITIONS: "part,value"})
    assert several.state().properties.keygen_type == "COMPLEX"
    assert mismatch(several).startswith("partition 'part=p' in ")


def test_another_name_or_a_column_that_is_not_there_is_suspect(tmp_path):
    assert not are_suspect(filled(tmp_path / "own").state())
    for other in ({"hoodie.table.name": "rides"}, {KEYS: "ride"}, {PARTITIONS: "city"}):
        assert are_suspect(copied_over(tmp_path / "-".join(other.values()), {}, other).state())


def test_a_table_without_files_shows_nothing(tmp_path):
    assert mismatch(create(tmp_path)) is None


def test_no_write_merges_rows_into_files_with_other_keys(tmp_path):
    table = copied_over(tmp_path, {}, {KEYS: "value"})
    with pytest.raises(
        CorruptTableError, match=r"are not those of its files\. Found: key 'a' in .*`hudi-services table recover`"
    ):
        table.write(batch([("d", "p", 2, 14)]), "upsert", SMALL_BLOOM)
    assert sorted(table.read()["id"].to_pylist()) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert", "delete", "insert_overwrite"])
def test_no_write_goes_on_with_the_properties_of_a_table_of_another_name(tmp_path, kind, operation):
    """Also where it would open no stored row: a new partition, a log."""
    other = {KEYS: "value", "hoodie.table.name": "rides", "hoodie.table.type": kind}
    table = copied_over(tmp_path, {"hoodie.table.type": kind}, other)
    for part in ("p", "z"):
        with pytest.raises(CorruptTableError, match=r"are not those of its files.*`hudi-services table recover`"):
            table.write(batch([("d", part, 2, 11)]), operation, SMALL_BLOOM)
    assert table.timeline.instants == HoodieTable.open(tmp_path / "own").timeline.commits
    assert sorted(table.read()["id"].to_pylist()) == ["a", "b", "c"]


def test_a_table_that_was_only_renamed_is_written(tmp_path):
    table = copied_over(tmp_path, {}, {"hoodie.table.name": "rides"})
    table.write(batch([("d", "p", 2, 14)]), "upsert", SMALL_BLOOM)
    assert sorted(table.read()["id"].to_pylist()) == ["a", "b", "c", "d"]


def test_the_doctor_finds_them_by_another_name_and_with_deep_by_rows_alone(tmp_path):
    renamed = copied_over(tmp_path / "1", {}, {KEYS: "value", "hoodie.table.name": "rides"})
    same_name = copied_over(tmp_path / "2", {}, {KEYS: "value"})
    cases = (renamed, False, 1), (renamed, True, 1), (same_name, False, 0), (same_name, True, 1)
    for table, deep, count in cases:
        findings = diagnose(table.storage, SystemClock(), {}, data_files=deep).findings
        assert [finding.check for finding in findings].count("foreign-properties") == count


def test_numbers_that_releases_of_java_write_differently_show_nothing():
    keys = RecordKeys(("id",), with_names=False)
    rows = pa.table({"_hoodie_record_key": ["1.0E17", "1.5"], "id": [1e17, 1.5]})
    refuse_foreign_keys(keys, rows, "t", "f")
    refuse_foreign_keys(keys, rows.slice(0, 1), "t", "f")
    other = pa.table({"_hoodie_record_key": ["1.0E17", "z"], "id": [1e17, 1.5]})
    with pytest.raises(CorruptTableError, match=r"'z' in f, where they make '1\.5'"):
        refuse_foreign_keys(keys, other, "t", "f")
