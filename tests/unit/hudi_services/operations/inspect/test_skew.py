"""The skew of partitions, from the files of a table and the rows that commits count."""

from __future__ import annotations

from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.skew import largest_and_median, partition_skew
from hudi_services.operations.inspect.table_look import look_at
from tests.support.tables import batch, create


def skew_of(table, *, counted=True):
    look = look_at(ChosenTable(table.base_path))
    return look, partition_skew(look, row_counts(look, look.view.slices) if counted else None)


def test_partitions_are_compared_by_bytes_and_rows(tmp_path):
    table = create(tmp_path / "t")
    rows = [(f"k{number}", "big", 1, number) for number in range(11)]
    table.write(batch([*rows, ("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert")
    look, skew = skew_of(table)
    sizes = {file_slice.partition: file_slice.size for file_slice in look.view.slices}
    assert skew == {
        "partitions": 3,
        "bytes": sum(sizes.values()),
        "largest": "part=big",
        "largest_bytes": sizes["part=big"],
        "median_bytes": sorted(sizes.values())[1],
        "few_rows": 2,
    }
    assert skew_of(table, counted=False)[1] == {**skew, "few_rows": 0}


def test_logs_count_as_bytes_and_as_rows(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([(f"k{number}", "p", 1, number) for number in range(6)]), "upsert")
    before = skew_of(table)[1]
    table.write(batch([(f"k{number}", "p", 2, number) for number in range(6)]), "upsert")
    after = skew_of(table)[1]
    assert (before["few_rows"], after["few_rows"]) == (1, 0)
    assert after["bytes"] > before["bytes"]


def test_a_table_without_partitions_or_files_has_none(tmp_path):
    assert skew_of(create(tmp_path / "empty"))[1] is None
    table = create(tmp_path / "t", **{"hoodie.table.partition.fields": ""})
    table.write(batch([("a", "p", 1, 1)]), "upsert")
    assert skew_of(table)[1] is None


def test_the_first_of_two_largest_sizes_and_a_median_in_whole_bytes():
    assert largest_and_median({"a": 1, "b": 4, "c": 4, "d": 2}) == ("b", 3)
    assert largest_and_median({"a": 1, "b": 4}) == ("b", 2)
