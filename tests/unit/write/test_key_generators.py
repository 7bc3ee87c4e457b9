"""Tables by every key generator are written, found again and updated; keys are made for rows without any."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import hoodie.write.plan
from hoodie import HoodieTable
from hoodie.errors import ConfigError, RecordKeyError
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

NEW = "hoodie.keygen.timebased."
TEXT = {
    NEW + "timestamp.type": "DATE_STRING",
    NEW + "input.dateformat": "yyyy-MM-dd",
    NEW + "output.dateformat": "yyyy/MM",
}
ROWS = pa.table(
    {"id": [1, 2, 3], "c": ["x", "y", None], "day": ["2020-01-06", None, "2021-12-31"], "n": pa.array([1, 1, 1])}
)


def create(path, keys="id", partitions="", kind=None, **more):
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.recordkey.fields": keys,
        "hoodie.table.partition.fields": partitions,
        **({"hoodie.table.keygenerator.type": kind} if kind else {}),
        **more,
    }
    return HoodieTable.create(str(path), options)


def paths(table):
    rows = table.read(["id", RECORD_KEY, PARTITION_PATH, "n"]).sort_by("id").to_pydict()
    return list(zip(*rows.values(), strict=True))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_timestamp_is_the_folder_and_stays_in_the_file(tmp_path, kind):
    table = create(
        tmp_path, partitions="day", **{"hoodie.table.keygenerator.type": "TIMESTAMP", "hoodie.table.type": kind}, **TEXT
    )
    table.write(ROWS, "insert")
    table.write(ROWS.slice(1).set_column(3, "n", pa.array([5, 6])))
    assert paths(table) == [(1, "1", "2020/01", 1), (2, "2", "1970/01", 5), (3, "3", "2021/12", 6)]
    assert table.read().sort_by("id")["day"].to_pylist() == ROWS["day"].to_pylist()
    table.write(ROWS.select(["id", "day"]).slice(2), "delete")
    assert table.read().num_rows == 2


def test_texts_of_numbers_are_the_numbers(tmp_path):
    """Hudi reads a column of numbers of such a table back as text, and then keeps text."""
    seconds = {NEW + "timestamp.type": "UNIX_TIMESTAMP", NEW + "output.dateformat": "yyyy-MM-dd"}
    table = create(tmp_path, partitions="at", **{"hoodie.table.keygenerator.type": "TIMESTAMP"}, **seconds)
    rows = pa.table({"id": [1, 2, 3], "at": ["1705311000", "-1", None], "n": [1, 1, 1]})
    table.write(rows)
    table.write(rows.slice(0, 1))
    assert [path for _, _, path, _ in paths(table)] == ["2024-01-15", "1969-12-31", "1970-01-01"]
    assert table.read(filter=pc.field("at") == "1705311000")["id"].to_pylist() == [1]
    for wrong in ("17e8", "", " 1", "1.5", "9" * 19):
        with pytest.raises(RecordKeyError, match="'at' has a value that is not a time"):
            table.write(pa.table({"id": [4], "at": [wrong], "n": [1]}))


def test_a_custom_generator_nests_both_kinds(tmp_path):
    table = create(tmp_path, partitions="c:SIMPLE,day:TIMESTAMP", **TEXT)
    table.write(ROWS, "bulk_insert")
    assert [row[2] for row in paths(table)] == ["x/2020/01", "y/1970/01", "__HIVE_DEFAULT_PARTITION__/2021/12"]


def test_global_delete_names_the_column_in_the_key(tmp_path):
    table = create(tmp_path, kind="GLOBAL_DELETE")
    table.write(ROWS)
    assert paths(table)[0] == (1, "id:1", "", 1)


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_generated_keys_are_new_in_every_row_and_write(tmp_path, operation):
    table = create(tmp_path, keys="", partitions="c")
    splits = pa.concat_tables([ROWS] * 4)
    times = [table.write(splits, operation).instant.time for _ in range(2)]
    made = [key.split("_") for key in table.read([RECORD_KEY])[RECORD_KEY].to_pylist()]
    assert len({tuple(key) for key in made}) == len(made) == 2 * splits.num_rows
    assert {key[0] for key in made} == set(times)
    assert all(len(key) == 3 and key[1].isdigit() and key[2].isdigit() for key in made)


@pytest.mark.parametrize("operation", ["upsert", "delete"])
def test_generated_keys_find_no_row(tmp_path, operation):
    table = create(tmp_path, keys="")
    with pytest.raises(ConfigError, match="finds no row in table 't': its keys are generated"):
        table.write(ROWS, operation)


def test_options_given_again_with_a_write_must_be_the_tables(tmp_path):
    table = create(tmp_path, partitions="day", kind="TIMESTAMP", **TEXT)
    table.write(ROWS, options=TEXT)
    with pytest.raises(ConfigError, match=r"output.dateformat contradicts the table"):
        table.write(ROWS, options={NEW + "output.dateformat": "yyyy"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({NEW + "output.dateformat": "yyyy-QQ"}, "letter Q"),
        ({NEW + "output.dateformat": "HH:mm"}, "makes no folder names"),
        ({NEW + "output.dateformat": "yyyy z"}, "names of zones"),
        ({NEW + "input.dateformat": "GG yyyy"}, "reads eras"),
        ({NEW + "timezone": "Mars/Olympus"}, "time zone of the key generator is not known"),
    ],
)
def test_patterns_and_zones_are_checked_when_the_table_is_created(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        create(tmp_path, partitions="day", kind="TIMESTAMP", **{**TEXT, **options})
    assert not (tmp_path / ".hoodie").exists()


@pytest.mark.parametrize("day", ["2020-02-30", "2020/01/01", ""])
def test_a_value_that_is_no_date_is_named_and_nothing_is_written(tmp_path, day):
    table = create(tmp_path, partitions="day", kind="TIMESTAMP", **TEXT)
    with pytest.raises(RecordKeyError, match=r"'day' has a value that is not a time.*yyyy-MM-dd"):
        table.write(ROWS.set_column(2, "day", pa.array([day] * 3)))
    assert not list(table.timeline.commits)


MICROS = pa.timestamp("us", "UTC")
TIMES = {"at": pa.array([datetime(2026, 7, 1, tzinfo=UTC)], MICROS), "day": pa.array([date(2026, 7, 1)])}
OUTPUT = {"hoodie.table.keygenerator.type": "TIMESTAMP", NEW + "output.dateformat": "yyyy/MM/dd"}
MISREAD = [
    ("at", {"timestamp.type": "EPOCHMILLISECONDS"}, "57971/"),
    ("at", {"timestamp.type": "UNIX_TIMESTAMP"}, ""),
    ("at", {"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": "DAYS"}, "have no folder"),
    ("day", {"timestamp.type": "EPOCHMILLISECONDS"}, "1970/01/01"),
]
RIGHT = [
    ("at", {"timestamp.type": "EPOCHMICROSECONDS"}),
    ("day", {"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": "DAYS"}),
]


def timed(path, column, said):
    return create(path, partitions=column, **OUTPUT, **{NEW + name: value for name, value in said.items()})


def rows_at(column):
    return pa.table({"id": [1], column: TIMES[column]})


@pytest.mark.parametrize(("column", "said", "folder"), MISREAD)
def test_a_new_table_does_not_take_times_for_others(tmp_path, column, said, folder):
    table = timed(tmp_path, column, said)
    for _ in range(2):
        with pytest.raises(ConfigError, match="takes the times of partition column") as caught:
            table.write(rows_at(column))
    assert folder in str(caught.value.found)
    assert "create the table with hoodie.keygen.timebased.timestamp.type=" in str(caught.value.fix)
    assert not [path for path in tmp_path.rglob("*.parquet") if path.is_file()]
    assert table.timeline.commits == ()


@pytest.mark.parametrize(("column", "said"), RIGHT)
def test_a_time_has_the_folder_of_its_day(tmp_path, column, said, caplog):
    table = timed(tmp_path, column, said)
    table.write(rows_at(column))
    assert table.read([PARTITION_PATH])[PARTITION_PATH].to_pylist() == ["2026/07/01"]
    assert "takes the times" not in caplog.text


def test_a_table_with_such_folders_gets_more_of_them_and_a_warning(tmp_path, caplog, monkeypatch):
    """A row of it is found again only there."""
    table = timed(tmp_path, "at", {"timestamp.type": "EPOCHMILLISECONDS"})
    with monkeypatch.context() as patch:  # as Hudi writes it
        patch.setattr(hoodie.write.plan, "misread_times", lambda *_: None)
        table.write(rows_at("at"))
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        table.write(rows_at("at"))
    [folder] = set(table.read([PARTITION_PATH])[PARTITION_PATH].to_pylist())
    assert folder.startswith("5846")
    assert table.read().num_rows == 1
    [warning] = caplog.messages
    assert "which are taken for milliseconds" in warning
    assert warning.endswith("as in its folders so far")
