"""Record keys and partition paths are, row by row, those of Apache Hudi for the same rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, HoodieError, UnsupportedTableError
from hoodie.keygen.java_floats import float_text
from tests.interop.peer import PeerError
from tests.interop.recording import RecordedPeer

pytestmark = pytest.mark.interop

NAN, INFINITY = float("nan"), float("inf")
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901)
# name -> type, values; the last row of every column is null. Texts hold nothing that a folder cannot be named.
COLUMNS = {
    "word": (
        pa.string(),
        ["a b", "ünï", "日本", "a,b", "a%b", "a%20b", "a=b", "", "q'\"{}[]^*#?\\", "~!@$&();<>|+`", " a "],
    ),
    "number": (pa.int32(), [1, -3, 2**31 - 1]),
    "big": (pa.int64(), [1, -3, 2**62, -(2**63)]),
    "flag": (pa.bool_(), [True, False]),
    "single": (pa.float32(), [1.0, 0.1, NAN, -0.0, INFINITY, 1e-5, 123456.789, 9999999.0, 1 / 3, 2.5e-4, -1.17e-37]),
    "double": (
        pa.float64(),
        [1.0, 0.1, NAN, 1e10, -0.0, -INFINITY, 1e-5, 9999999.0, 1e7, 123456789.125, -1 / 3, 1e-300],
    ),
    "money": (pa.decimal128(10, 2), [Decimal("1.00"), Decimal("0.01"), Decimal("-12345678.90"), Decimal("0.00")]),
    "wide": (
        pa.decimal128(38, 10),
        [Decimal(t) for t in ("1E-10", "0.0000001", "12345678901234567890.1234567891", "0", "0.00000123", "-1E-9")],
    ),
    "whole": (pa.decimal128(10, 0), [Decimal(1), Decimal(0), Decimal(-100)]),
    "day": (pa.date32(), [date(2026, 1, 2), date(1960, 5, 6), date(9999, 12, 31), date(1970, 1, 1)]),
    "local": (pa.timestamp("us"), [MOMENT, MOMENT.replace(microsecond=0), datetime(1960, 1, 1)]),
}
ROWS = max(len(values) for _, values in COLUMNS.values()) + 1
NO_FOLDERS = ["a/b", "c:d", "a/", "/a", "a//b", "a/../b", "a\tb"]  # what only an encoded folder can be named


def sample(*without):
    columns = {
        name: pa.array((values + [None] * ROWS)[:ROWS], kind)
        for name, (kind, values) in COLUMNS.items()
        if name not in without
    }
    return pa.table({"id": pa.array(range(ROWS), pa.int64()), **columns})


def options(version, keys, partitions, hive="false", encode="false"):
    return {
        "hoodie.table.name": "keys",
        "hoodie.datasource.write.recordkey.field": ",".join(keys),
        "hoodie.datasource.write.partitionpath.field": ",".join(partitions),
        "hoodie.datasource.write.precombine.field": "id",
        "hoodie.datasource.write.hive_style_partitioning": hive,
        "hoodie.datasource.write.partitionpath.urlencode": encode,
        "hoodie.write.table.version": version,
    }


def keygen(keys, partitions):
    name = "Nonpartitioned" if not partitions else "Simple" if len(keys) == len(partitions) == 1 else "Complex"
    return f"org.apache.hudi.keygen.{name}KeyGenerator"


def write_both(folder, hudis: RecordedPeer, rows, version, keys, partitions, operation="upsert", **layout):
    """The same rows by Hudi and by us; id -> (record key, partition path) of both."""
    given = options(version, keys, partitions, **layout)
    theirs = {
        **given,
        "hoodie.datasource.write.keygenerator.class": keygen(keys, partitions),
        "hoodie.datasource.write.operation": operation,
        "hoodie.metadata.enable": "false",
    }
    hudis.write(folder / "theirs", rows, theirs, "overwrite")
    ours = HoodieTable.create(str(folder / "ours"), given)
    ours.write(rows, operation)
    return keys_in_files(hudis.table(folder / "theirs")), keys_in_files(folder / "ours")


def keys_in_files(path):
    columns = ["id", "_hoodie_record_key", "_hoodie_partition_path"]
    files = [pq.ParquetFile(f).read(columns) for f in Path(path).rglob("*.parquet") if not f.name.startswith(".")]
    found = {id_: (key, path) for id_, key, path in zip(*pa.concat_tables(files).to_pydict().values(), strict=True)}
    assert found
    return found


def keys_seen_by(peer, path):
    table = peer.read(path).select(["id", "_hoodie_record_key", "_hoodie_partition_path"])
    return {id_: (key, path) for id_, key, path in zip(*table.to_pydict().values(), strict=True)}


def check_every_type(folder, peer, hudis, version, layout):
    rows = sample("local") if layout else sample()
    names = tuple(rows.schema.names)
    theirs, ours = write_both(folder, hudis, rows, version, names, names if layout else (), **layout or {})
    assert ours == theirs
    assert len(ours) == ROWS
    assert keys_seen_by(peer, folder / "ours") == ours


LAYOUTS = {"non partition": None, "hive encoded": {"hive": "true", "encode": "true"}}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_keys_and_paths_of_every_type(tmp_path, hudi12, recorded, layout):
    """Nulls (`__null__`) and empty strings (`__empty__`) in the keys, `__HIVE_DEFAULT_PARTITION__` for both in the paths."""
    check_every_type(tmp_path, hudi12, recorded("hudi12"), "9", LAYOUTS[layout])


def test_complex_key_generator_with_one_key_column(tmp_path, recorded):
    theirs, ours = write_both(tmp_path, recorded("hudi12"), sample(), "9", ("id",), ("number", "flag"))
    assert ours == theirs
    assert ours[0] == ("id:0", "1/true")


@pytest.mark.parametrize("operation", ["upsert", "bulk_insert"])
def test_keys_of_one_column(tmp_path, recorded, operation):
    """Hudi makes the keys of a bulk insert with other code than those of an upsert."""
    names = {"upsert": ("word", "double", "local"), "bulk_insert": ("single", "wide", "day", "local", "flag", "double")}
    hudis = recorded("hudi12")
    for name in names[operation]:
        rows = sample().filter(pc.field(name).is_valid())
        if name == "word":
            rows = rows.filter(pc.field(name) != "")
        theirs, ours = write_both(tmp_path / name, hudis, rows, "9", (name,), (), operation)
        assert ours == theirs, name


@pytest.mark.parametrize("hive", ["false", "true"])
def test_partition_paths_that_only_encoding_allows(tmp_path, hudi12, recorded, hive):
    rows = pa.table({"id": pa.array(range(len(NO_FOLDERS)), pa.int64()), "word": NO_FOLDERS})
    theirs, ours = write_both(tmp_path, recorded("hudi12"), rows, "9", ("id",), ("word",), hive=hive, encode="true")
    assert ours == theirs
    assert keys_seen_by(hudi12, tmp_path / "ours") == ours


def test_a_slash_makes_folders(tmp_path, hudi12, recorded):
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "word": ["2026/01/02", "a b/c=d"]})
    theirs, ours = write_both(tmp_path, recorded("hudi12"), rows, "9", ("id",), ("word",))
    assert ours == theirs == {1: ("1", "2026/01/02"), 2: ("2", "a b/c=d")}
    assert keys_seen_by(hudi12, tmp_path / "ours") == ours


@pytest.mark.parametrize(("keys", "values"), [(("word",), [""]), (("word", "other"), [None])])
def test_both_refuse_rows_without_a_key(tmp_path, recorded, keys, values):
    rows = pa.table({"id": [1], "word": pa.array(values, pa.string()), "other": pa.array([None], pa.string())})
    given, hudi = options("9", keys, ()), recorded("hudi12")
    with pytest.raises(PeerError, match=r"cannot be (entirely )?null or empty"):
        hudi.write(tmp_path / "theirs", rows, {**given, "hoodie.datasource.write.operation": "upsert"}, "overwrite")
    with pytest.raises(HoodieError, match="null or empty"):
        HoodieTable.create(str(tmp_path / "ours"), given).write(rows, "upsert")


def test_timestamps_with_a_zone_have_two_texts_in_hudi(tmp_path, recorded):
    """Why we refuse them; when this fails Hudi has settled on one."""
    rows = pa.table({"id": [1], "at": pa.array([MOMENT.replace(tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    found, hudi = {}, recorded("hudi12")
    for operation in ("upsert", "bulk_insert"):
        given = {**options("9", ("at",), ()), "hoodie.datasource.write.operation": operation}
        hudi.write(tmp_path / operation, rows, given, "overwrite")
        found[operation] = keys_in_files(hudi.table(tmp_path / operation))[1][0]
    assert found == {"upsert": "1767323045678901", "bulk_insert": "2026-01-02 03:04:05.678"}


def test_floats_as_java_prints_them(tmp_path, hudi12):
    """The float texts against the JVM itself: short decimals, any bits, both sides of every border."""
    random = np.random.default_rng(7)
    borders = np.array([1e-3, 1e7, 9999999.5, 1e-5, 1e-7, 1.0, 1e15, 2.0**-19, 2.0**-20])
    doubles = np.concatenate(
        [
            random.integers(-(10**6), 10**6, 20_000) / 10.0 ** random.integers(0, 12, 20_000),
            random.integers(-(2**62), 2**62, 40_000).view(np.float64),
            random.random(20_000) * 10.0 ** random.integers(-4, 16, 20_000),
            borders,
            np.nextafter(borders, 0),
            np.nextafter(borders, 1e16),
            np.array([0.0, -0.0, NAN, INFINITY, -INFINITY]),
        ]
    )
    size = np.abs(doubles)
    doubles = doubles[((size < 1e16) & ((size > 1e-307) | (size == 0))) | ~np.isfinite(doubles)]
    singles = doubles[(np.abs(doubles) < 9.9e6) & ((np.abs(doubles) > 1e-37) | (doubles == 0))].astype(np.float32)
    for numbers in (doubles, singles):
        pq.write_table(pa.table({"number": numbers}), tmp_path / "in.parquet")
        hudi12.sql(
            f"insert overwrite directory '{tmp_path}/out' using parquet "
            f"select number, cast(number as string) as text from parquet.`{tmp_path}/in.parquet`"
        )
        found = pa.concat_tables([pq.ParquetFile(file).read() for file in (tmp_path / "out").glob("*.parquet")])
        assert found.num_rows == len(numbers)
        wrong = pc.not_equal(float_text(found["number"], "number"), found["text"])
        assert not found.filter(wrong).to_pylist()


# The peer of another version replaces the first: keep its tests together.
def test_version_6_keys_and_paths_of_every_type(tmp_path, hudi15, recorded):
    check_every_type(tmp_path, hudi15, recorded("hudi15"), "6", LAYOUTS["hive encoded"])


def test_version_6_complex_key_generator_with_one_key_column(tmp_path, recorded):
    """0.15 leaves the column's name out and 1.2 refuses such a table: so do we, also a table that Hudi has written."""
    rows, given = sample("local"), options("6", ("id",), ("number", "flag"))
    with pytest.raises(ConfigError, match="HUDI-7001"):
        HoodieTable.create(str(tmp_path / "ours"), given)
    theirs = {
        **given,
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
        "hoodie.datasource.write.operation": "upsert",
    }
    hudis = recorded("hudi15")
    hudis.write(tmp_path / "theirs", rows, theirs, "overwrite")
    path = hudis.table(tmp_path / "theirs")
    assert keys_in_files(path)[0] == ("0", "1/true")
    with pytest.raises(UnsupportedTableError, match="HUDI-7001"):
        HoodieTable.open(path).write(rows, "upsert")
