"""Faults that only data files show: torn ones, others than their commit wrote, keys that come twice."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.doctor import key_checks, schema_checks
from hoodie.errors import HoodieError
from hoodie.formats.log import scan_blocks
from hudi_services.entry.target import Target
from tests.support.archive import archive_before
from tests.support.tables import SMALL_BLOOM, batch, create

SEVERAL = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def filled(path, version="9", kind="COPY_ON_WRITE"):
    table = create(path, **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    for step in range(3):
        table.write(batch([("a", "p", step, step), (f"b{step}", "q", step, step)]), "upsert", SEVERAL)
    return table


def found(table):
    return {each.check: each for each in table.diagnose(deep=True).findings}


def base(table):
    return next(s.base_file for s in table.file_slices() if s.partition == "part=p")


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_healthy_table_is_healthy_inside_too(tmp_path, version, kind):
    assert found(filled(tmp_path, version, kind)) == {}


@pytest.mark.parametrize("left", [0, 4, -10])
def test_a_base_file_that_was_cut_short(tmp_path, left):
    table = filled(tmp_path)
    file = tmp_path / base(table).path
    file.write_bytes(file.read_bytes()[:left])
    path = base(table).path
    assert [(each.check, each.path) for each in table.diagnose().findings] == [("file-size", path)]
    assert {name: each.path for name, each in found(table).items()} == {"file-size": path, "torn-file": path}


def test_a_page_of_a_base_file_that_is_damaged(tmp_path):
    """Its size is right, and its footer can be read."""
    table = filled(tmp_path)
    file = tmp_path / base(table).path
    body, footer = bytearray(file.read_bytes()), pq.ParquetFile(file)
    chunk = footer.metadata.row_group(0).column(footer.schema_arrow.get_field_index("value"))
    body[(chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size - 2] ^= 1
    file.write_bytes(body)
    assert table.diagnose().findings == ()
    told = found(table)
    assert (list(told), told["torn-file"].path) == (["torn-file"], base(table).path)
    assert "checksum" in told["torn-file"].found


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("cut", ["short", "garbage", "inside"])
def test_a_log_whose_rows_cannot_be_read(tmp_path, version, cut):
    """Readers pass over what is no block: the table reads on, with fewer rows or older ones."""
    table = filled(tmp_path, version, "MERGE_ON_READ")
    log = next(log for s in table.file_slices() if s.partition == "part=p" for log in s.log_files)
    file = tmp_path / log.path
    body = bytearray(file.read_bytes())
    if cut == "short":
        body = body[:-9]
    elif cut == "garbage":
        body = bytearray(len(body))
    else:  # lengths and magic stay
        (block, *_) = scan_blocks(table.storage, log.path)
        middle = block.content_offset + block.content_length // 2
        body[block.content_offset : middle] = bytes(middle - block.content_offset)
    file.write_bytes(body)
    assert "torn-log" not in {each.check for each in table.diagnose().findings}, "logs are not read"
    told = found(table)["torn-log"]
    assert told.path == log.path
    assert "commit 2026" in told.found


def test_what_a_killed_writer_left_in_a_log_is_no_damage(tmp_path):
    """In version 6 logs are shared: readers pass over what was not finished, and no commit wrote it."""
    table = filled(tmp_path, "6", "MERGE_ON_READ")
    log = next(log for s in table.file_slices() for log in s.log_files)
    body = (tmp_path / log.path).read_bytes()
    (tmp_path / log.path).write_bytes(body + body[: len(body) // 3])
    assert found(table) == {}


def test_a_base_file_with_other_rows(tmp_path):
    table = filled(tmp_path)
    file = tmp_path / base(table).path
    rows = pq.read_table(file)
    pq.write_table(rows.slice(0, 0), file)
    told = found(table)["footer"]
    assert "0 rows, where the commit wrote 1" in told.found
    assert "bytes, where the commit wrote" in told.found


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_keys_that_stand_twice(tmp_path, kind):
    table = filled(tmp_path, kind=kind)
    for _ in range(2):
        table.write(batch([("a", "p", 9, 9), ("new", "p", 9, 9)]), "bulk_insert", SEVERAL)
    told = found(table)
    assert set(told) == {"duplicate-keys"}
    assert told["duplicate-keys"].path == "part=p"
    [line] = Target("--table t").commands(told["duplicate-keys"].remedy)
    assert line.startswith("hudi-services ingest --reload --operation insert_overwrite --hoodie-conf ")
    slices = [s for s in table.file_slices() if "a" in pq.read_table(tmp_path / s.base_file.path)["id"].to_pylist()]
    groups = sorted(s.file_id for s in slices)
    what, _, named = told["duplicate-keys"].found.partition("; 'a' in file groups ")
    assert (what, sorted(named.split(", "))) == ("2 keys: 'a', 'new'", groups)
    assert told["duplicate-keys"].bytes == sum(s.size for s in slices)
    table.write(batch([("a", "p", 9, 9)]), "delete", SEVERAL)
    assert found(table)["duplicate-keys"].found.startswith("1 keys: 'new'; 'new' in file groups ")


def rewritten(table, change):
    """The base file of partition p with other columns, its footer's metadata kept."""
    path = Path(table.base_path, base(table).path)
    rows = pq.read_table(path)
    changed = change(rows)
    pq.write_table(changed.replace_schema_metadata(pq.read_metadata(path).metadata), path, store_schema=False)


def retyped(name, values, kind):
    def change(rows):
        place = rows.schema.get_field_index(name)
        return rows.set_column(place, pa.field(name, kind), pa.array(values, kind))

    return change


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (retyped("value", ["x"], pa.string()), "column 'value' is string, which does not become int64"),
        (retyped("value", [[1]], pa.list_(pa.int64())), "column 'value' is list<"),
        (retyped("ts", [1.5], pa.float64()), "column 'ts' is double, which does not become int64"),
        (retyped("value", [2**63], pa.uint64()), "column 'value' is uint64, which does not become int64"),
    ],
)
def test_a_file_that_does_not_fit_the_tables_schema(tmp_path, change, flaw):
    table = filled(tmp_path)
    rewritten(table, change)
    assert found(table)["schema"].found.startswith(flaw)
    with pytest.raises(HoodieError):
        table.read()


def test_a_file_without_its_record_keys(tmp_path):
    table = filled(tmp_path)
    rewritten(table, lambda rows: rows.drop_columns(["_hoodie_record_key"]))
    assert found(table)["schema"].found == "no column '_hoodie_record_key'"


@pytest.mark.parametrize(
    "change",
    [
        retyped("value", [7], pa.int32()),
        retyped("ts", [1.0], pa.float64()),
        lambda rows: rows.drop_columns(["value"]),
        lambda rows: rows.select(rows.schema.names[::-1]),
    ],
)
def test_a_file_that_readers_bring_to_the_tables_schema(tmp_path, change):
    """Narrower types, absent columns, another order."""
    table = filled(tmp_path)
    rewritten(table, change)
    assert "schema" not in found(table)
    assert table.read(options={"hoodie.read.check.files": False}).num_rows == 4  # it may be shorter than before


def test_columns_that_nobody_reads(tmp_path):
    table = filled(tmp_path)
    rewritten(table, lambda rows: rows.append_column("more", pa.array([1])))
    told = found(table)
    assert told["unread-columns"].found == "'more' in 1"
    assert told["unread-columns"].severity == "note"


@pytest.mark.parametrize(("nulls", "flawed"), [([None], True), ([5], False)])
def test_a_column_that_may_not_be_null(nulls, flawed):
    footer, field = pa.BufferOutputStream(), pa.field("n", pa.int64(), nullable=False)
    pq.write_table(pa.table({"n": pa.array(nulls, pa.int64())}), footer)
    metadata = pq.ParquetFile(pa.BufferReader(footer.getvalue())).metadata
    stored = pa.schema([("n", pa.int64())])
    assert (schema_checks._flaw(stored, metadata, field) is not None) is flawed
    assert "no column 'n'" in schema_checks._flaw(pa.schema([]), metadata, field)


GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}


def test_keys_in_several_partitions(tmp_path):
    """They are damage if the writers' index is global. Otherwise each partition may have its own row."""
    table = filled(tmp_path)
    table.write(batch([("a", "q", 9, 9), ("b0", "p", 9, 9), ("x", "q", 9, 9)]), "bulk_insert", SEVERAL)
    (warned,) = table.diagnose(deep=True).findings
    assert (warned.check, warned.severity) == ("keys-per-partition", "warning")
    assert warned.found.startswith("2 keys: 'a', 'b0'; 'a' in file groups ")
    assert warned.remedy.startswith("keep one row of each key: delete it in the other partitions, and load with ")
    (told,) = table.diagnose(GLOBAL, deep=True).findings
    assert told.check == "keys-in-partitions"
    assert told.found.startswith("2 keys: 'a', 'b0'; 'a' in file groups ")
    assert told.found.endswith(" of partitions 'part=p', 'part=q'")
    table.write(batch([("x", "q", 9, 9)]), "bulk_insert", SEVERAL)
    assert {each.check: each.path for each in table.diagnose(GLOBAL, deep=True).findings} == {
        "keys-in-partitions": None,
        "duplicate-keys": "part=q",
    }


def test_keys_that_have_the_partition_are_compared_in_their_partition_alone(tmp_path, monkeypatch):
    table = create(tmp_path, **{"hoodie.table.recordkey.fields": "id,part"})
    table.write(batch([("a", "p", 1, 1), ("a", "q", 1, 1)]), "upsert", SEVERAL)
    compared = []
    doubled = key_checks._doubled
    monkeypatch.setattr(key_checks, "_doubled", lambda facts, some: compared.append(some) or doubled(facts, some))
    assert found(table) == {}
    assert compared == [["part=p"], ["part=q"]]


def test_keys_beside_a_partition_that_cannot_be_read(tmp_path):
    """Those of the others are looked at."""
    table = filled(tmp_path)
    for _ in range(2):
        table.write(batch([("x", "q", 9, 9)]), "bulk_insert", SEVERAL)
    (tmp_path / base(table).path).write_bytes(b"PAR1")
    assert found(table)["duplicate-keys"].path == "part=q"


ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdefgh")), max_size=30)


@given(ROWS, st.integers(1, 6), st.sampled_from([1, 1 << 30]))
def test_rows_of_a_key_come_together_whatever_is_held(rows, step, limit):
    """In memory, or by way of local files."""
    tables = [
        pa.table([[p for p, _ in some], [0] * len(some), [k for _, k in some]], schema=key_checks._KEYS)
        for some in (rows[start : start + step] for start in range(0, len(rows), step))
    ]
    seen, piles = [], [pile.to_pylist() for pile in key_checks._piles(tables, limit)]
    for pile in piles:
        seen += [(row["partition"], row["key"]) for row in pile]
    assert sorted(seen) == sorted(rows)
    assert sum(len({row["key"] for row in pile}) for pile in piles) == len({key for _, key in rows})


def test_doubled_keys_are_the_same_by_way_of_local_files(tmp_path, monkeypatch):
    table = filled(tmp_path)
    for _ in range(2):
        table.write(batch([(f"k{n}", "p", 9, 9) for n in range(50)]), "bulk_insert", SEVERAL)
    before = found(table)
    monkeypatch.setattr(key_checks._piles, "__defaults__", (100,))
    assert found(table) == before
    assert before["duplicate-keys"].found.startswith("50 keys: 'k0', 'k1', 'k10' …; 'k0' in file groups ")


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_file_that_would_have_been_archived_and_was_not(tmp_path, version):
    table = filled(tmp_path, version)
    first, second, third = table.timeline.commits
    archive_before(table, third.time)
    file = tmp_path / base(table).path
    between = str(int(second.time) - 1)
    assert first.time < between
    (file.parent / f"aaaa-0_0-1-2_{between}.parquet").write_bytes(file.read_bytes())
    (file.parent / "bbbb-0_0-1-2_20200101000000000.parquet").write_bytes(file.read_bytes())
    assert table.diagnose().findings == ()
    told = [each for each in table.diagnose(deep=True).findings if each.check == "unknown-file"]
    assert [each.instant for each in told] == [between], "of what was before the archive nobody knows"
