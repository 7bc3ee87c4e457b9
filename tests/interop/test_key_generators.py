"""Tables by the newer key generators, and with generated keys, that Hudi and we write in turn."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.config.keys.table import KEYGEN_KEYS
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

NEW, OLD = "hoodie.keygen.timebased.", "hoodie.deltastreamer.keygen.timebased."
META = ("_hoodie_record_key", "_hoodie_partition_path")
HIVE = "hoodie.datasource.write.hive_style_partitioning"
TEXT = {
    "timestamp.type": "DATE_STRING",
    "input.dateformat": "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd",
    "input.timezone": "America/Los_Angeles",
    "output.dateformat": "yyyy/MM/dd-HH",
    "output.timezone": "Asia/Kolkata",
}
DAYS = ["2020-01-06", None, "2021-07-31T23:30:00Z", "2020-03-08T02:30:00+05:00", "1969-12-31", "2024-2-9"]


def options(version, kind, keys, partitions, family=NEW, **more):
    stamps = {family + name: value for name, value in TEXT.items()} if kind in ("TimestampBased", "Custom") else {}
    return {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": keys,
        "hoodie.datasource.write.partitionpath.field": partitions,
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{kind}KeyGenerator",
        "hoodie.datasource.write.precombine.field": "n",
        "hoodie.write.table.version": version,
        **stamps,
        **more,
    }


def tables(version):
    return {
        "timestamp": options(version, "TimestampBased", "id", "day"),
        "timestamp, merge on read": options(
            version, "TimestampBased", "id", "day", OLD, **{"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
        ),
        "custom": options(version, "Custom", "id,c", "c:simple,day:timestamp", **{HIVE: "true"}),
        "global delete": options(version, "GlobalDelete", "id", ""),
    }


def rows(first, n):
    """Six rows; what a row's key and partition are made of follows from its id."""
    ids = range(first, first + 6)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "c": [["x", "y", None, "x", "z", ""][id_ % 6] for id_ in ids],
            "day": [DAYS[id_ % 6] for id_ in ids],
            "n": pa.array([n] * 6, pa.int64()),
        }
    )


def by_id(table, *columns):
    names = ["id", "n", "_hoodie_record_key", "_hoodie_partition_path", *columns]
    return {row[0]: row for row in zip(*table.select(names).to_pydict().values(), strict=True)}


def key_properties(table):
    """The properties of a table that have to do with its keys."""
    names = {name for key in KEYGEN_KEYS for name in key.names}
    return {name: value for name, value in table.properties.raw.items() if name in names}


def days(first, n):
    """The same with days that folders can be made of."""
    table = rows(first, n)
    return table.set_column(2, "day", pa.array([f"2024-0{id_ % 3 + 1}-29" for id_ in table["id"].to_pylist()]))


def write_in_turn(folder, peer, version, given, columns):
    theirs = {**given, "hoodie.datasource.write.operation": "upsert", "hoodie.metadata.enable": "false"}
    again = {name: value for name, value in given.items() if any(name in key.names for key in KEYGEN_KEYS)}
    ours = HoodieTable.create(str(folder / "ours"), given)
    ours.write(rows(1, 1), options=again)
    peer.write(folder / "theirs", rows(1, 1), theirs, "overwrite")
    hudis = HoodieTable.open(str(folder / "theirs"))
    expected = key_properties(ours)
    if version == "6":
        expected.pop(NEW + "timestamp.type", None)  # 0.15 wants it with every write
    if "custom" not in folder.name:
        assert key_properties(hudis) == expected
    both = []
    for table in (ours, hudis):
        path = table.base_path
        peer.write(path, rows(4, 2), theirs)  # three updates, three new rows
        table.write(rows(6, 3), options=again)
        found = by_id(table.read([*META, "id", "n", *columns]), *columns)
        assert found == by_id(peer.read(path), *columns)
        assert [found[id_][1] for id_ in sorted(found)] == [1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]
        both.append(found)
    assert both[0] == both[1]


@pytest.mark.parametrize("name", sample(tables("9"), 2))
def test_hudi_1_2_and_we_write_in_turn(tmp_path, hudi12, name):
    write_in_turn(tmp_path / name, hudi12, "9", tables("9")[name], ["day"])


def test_days_as_nested_folders(tmp_path, hudi12):
    given = options("9", "Simple", "id", "day", **{"hoodie.datasource.write.slash.separated.date.partitioning": "true"})
    ours = HoodieTable.create(str(tmp_path), given)
    ours.write(days(1, 1))
    theirs = {**given, "hoodie.datasource.write.operation": "upsert", "hoodie.metadata.enable": "false"}
    hudi12.write(ours.base_path, days(4, 2), theirs)
    ours.write(days(6, 3))
    found = by_id(ours.read([*META, "id", "n", "day"]), "day")
    assert found == by_id(hudi12.read(ours.base_path), "day")
    assert [found[id_][1] for id_ in sorted(found)] == [1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]
    assert {row[3] for row in found.values()} == {"2024/01/29", "2024/02/29", "2024/03/29"}


@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_generated_keys_of_both(tmp_path, hudi12, kind):
    given = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.partitionpath.field": "c",
        "hoodie.datasource.write.table.type": kind,
    }
    ours = HoodieTable.create(str(tmp_path / "ours"), given)
    ours.write(rows(1, 1), "insert")
    theirs = {**given, "hoodie.datasource.write.operation": "insert", "hoodie.metadata.enable": "false"}
    hudi12.write(tmp_path / "theirs", rows(1, 1), theirs, "overwrite")
    hudis = HoodieTable.open(str(tmp_path / "theirs"))
    assert key_properties(ours) == key_properties(hudis)
    for table in (ours, hudis):
        hudi12.write(table.base_path, rows(1, 2), theirs)
        table.write(rows(1, 3), "bulk_insert")
        table.write(rows(1, 4), "insert")
        columns = ["_hoodie_record_key", "_hoodie_partition_path", "id", "n"]
        found = sorted(map(tuple, (row.values() for row in table.read(columns).to_pylist())))
        assert found == sorted(
            map(tuple, (row.values() for row in hudi12.read(table.base_path).select(columns).to_pylist()))
        )
        assert len({row[0] for row in found}) == len(found) == 24


def test_hudi_refuses_another_key_generator_as_we_do(tmp_path, hudi12):
    from hoodie.errors import ConfigError
    from tests.interop.peer import PeerError

    given = tables("9")["timestamp"]
    HoodieTable.create(str(tmp_path), given).write(rows(1, 1))
    other = {**given, "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator"}
    with pytest.raises(PeerError, match=r"(?i)config conflict"):
        hudi12.write(tmp_path, rows(1, 1), {**other, "hoodie.datasource.write.operation": "upsert"})
    with pytest.raises(ConfigError, match="never changes"):
        HoodieTable.open(str(tmp_path)).write(
            rows(1, 1),
            options={"hoodie.datasource.write.keygenerator.class": other["hoodie.datasource.write.keygenerator.class"]},
        )


# The peer of another version replaces the first: keep its tests together.
@pytest.mark.parametrize("name", sample(tables("6"), 1))
def test_hudi_0_15_and_we_write_in_turn(tmp_path, hudi15, name):
    """0.15 gives the folder's text for the column of a time."""
    write_in_turn(tmp_path / name, hudi15, "6", tables("6")[name], [])
