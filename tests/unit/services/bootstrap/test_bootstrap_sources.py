"""Sources as they are found in the wild: on object storage, in encoded and nested folders, of old and odd types, damaged."""

from __future__ import annotations

import uuid

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError, SourceError
from hoodie.services.bootstrap import BootstrapRequest, preflight, run_bootstrap, validate_bootstrap
from hoodie.storage import LocalStorage
from tests.support.clock import FakeClock
from tests.support.sources import SMALL, TABLE, contents, put

ENGINE = LocalEngine(2)
MODES = pytest.mark.parametrize("mode", ["METADATA_ONLY", "FULL_RECORD"])


def request(root, table=(), **options):
    named = {f"hoodie.bootstrap.{name.replace('_', '.')}": value for name, value in options.items()}
    given = {"hoodie.bootstrap.base.path": f"{root}/source", **SMALL, **named}
    mode = given.pop("hoodie.bootstrap.mode", "METADATA_ONLY")
    return BootstrapRequest(
        f"{root}/table", {**TABLE, **dict(table)}, {**given, "hoodie.bootstrap.mode.selector.regex.mode": mode}
    )


def made(asked):
    run_bootstrap(asked, FakeClock(), ENGINE)
    assert validate_bootstrap(asked, FakeClock(), ENGINE).different == ()
    return HoodieTable.open(asked.base_path, engine=ENGINE, clock=FakeClock())


def content(table):
    return sorted((row["part"], row["id"], row["value"]) for row in table.read().to_pylist())


@pytest.fixture(params=["local", "memory"])
def root(request, tmp_path):
    """Places of source and table. A test puts files below tmp_path/source, and `upload` sends them to an object store."""
    if request.param == "local":
        yield str(tmp_path)
        return
    yield f"memory://{uuid.uuid4()}/lake"
    fsspec.filesystem("memory").store.clear()


def upload(tmp_path, root):
    if root != str(tmp_path):
        fsspec.filesystem("memory").put(f"{tmp_path}/source", f"{root}/source", recursive=True)


@MODES
def test_folders_with_encoded_names_on_any_storage(tmp_path, root, mode):
    """The value of `part=a%3Ab%2Fc` is a:b/c; the folder keeps its name, and updates find it."""
    put(tmp_path / "source", "part=a%3Ab%2Fc/x.parquet", ["a", "b"])
    put(tmp_path / "source", "part=two words/x.parquet", ["a"])
    put(tmp_path / "source", "part=__HIVE_DEFAULT_PARTITION__/x.parquet", ["n"])
    upload(tmp_path, root)
    before = contents(tmp_path / "source")
    table = made(request(root, {"hoodie.datasource.write.partitionpath.urlencode": "true"}, mode=mode))
    rows = [("a:b/c", "a", 0), ("a:b/c", "b", 1), ("two words", "a", 0)]
    found = table.read()
    assert found.filter(pc.is_null(found["part"]))["id"].to_pylist() == ["n"]
    known = found.filter(pc.is_valid(found["part"])).to_pylist()
    assert sorted((row["part"], row["id"], row["value"]) for row in known) == rows
    change = pa.table({"id": ["a", "n"], "ts": [2, 2], "value": [9, 9], "part": ["a:b/c", None]})
    result = table.write(change, "upsert", SMALL)
    assert (result.rows_updated, result.rows_inserted) == (2, 0)
    assert sorted(table.read()["value"].to_pylist()) == [0, 1, 9, 9]
    assert contents(tmp_path / "source") == before


def test_a_source_on_an_object_store_is_cleaned_only_when_told(tmp_path):
    root = f"memory://{uuid.uuid4()}/lake"
    put(tmp_path / "source", "part=p%3Aq/x.parquet", ["a"])
    upload(tmp_path, root)
    table = made(request(root, {"hoodie.datasource.write.partitionpath.urlencode": "true"}))
    store = fsspec.filesystem("memory")
    for ts in (2, 3):
        table.write(pa.table({"id": ["a"], "ts": [ts], "value": [ts], "part": ["p:q"]}), "upsert", SMALL)
    told = {"hoodie.clean.commits.retained": 1, "hoodie.cleaner.delete.bootstrap.base.file": True}
    assert [file.path for file in table.explain(CLEAN, told).plan.sources] == [f"{root}/source/part=p%3Aq/x.parquet"]
    assert len(store.find(f"{root}/source")) == 1
    table.run(CLEAN, told)
    assert store.find(f"{root}/source") == []
    assert table.read()["value"].to_pylist() == [3]


@MODES
def test_nested_hive_folders(tmp_path, mode):
    put(tmp_path / "source", "year=2024/part=01/a.parquet", ["a"])
    put(tmp_path / "source", "year=2025/part=__HIVE_DEFAULT_PARTITION__/b.parquet", ["b"])
    table = made(request(str(tmp_path), {"hoodie.table.partition.fields": "year,part"}, mode=mode))
    assert [(row["year"], row["part"], row["id"]) for row in table.read().sort_by("id").to_pylist()] == [
        (2024, "01", "a"),
        (2025, None, "b"),
    ]
    change = pa.table({"id": ["b"], "ts": [2], "value": [9], "year": [2025], "part": pa.nulls(1, pa.string())})
    assert table.write(change, "upsert", SMALL).rows_updated == 1


ODD = {
    "dictionary": pa.array(["x", "y"]).dictionary_encode(),
    "struct": pa.StructArray.from_arrays([pa.array(["x", "y"]).dictionary_encode()], ["inner"]),
    "large": pa.array(["x", None], pa.large_string()),
    "unsigned": pa.array([1, 2**32 - 1], pa.uint32()),
    "half": pa.array([1.5, None], pa.float16()),
    "nanoseconds": pa.array([1_000, None], pa.timestamp("ns", "UTC")),
    "milliseconds": pa.array([1, None], pa.timestamp("ms", "UTC")),
    "decimal": pa.array(["1.25", None]).cast(pa.decimal128(10, 2)),
    "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32())),
}


@MODES
def test_types_that_others_wrote(tmp_path, mode):
    (tmp_path / "source" / "part=p").mkdir(parents=True)
    rows = pa.table({"id": ["a", "b"], "ts": [1, 1], **ODD})
    pq.write_table(rows, tmp_path / "source" / "part=p" / "x.parquet")
    asked = request(str(tmp_path), mode=mode)
    notes = [note.split(":")[0] for note in preflight(asked, ENGINE).notes]
    stays = ["column 'nanoseconds' is in nanoseconds", "column 'half' is a 16-bit float"]
    assert notes == (stays if mode == "METADATA_ONLY" else [])
    found = made(asked).read(columns=list(ODD))
    assert {name: found[name].to_pylist() for name in ODD} == {name: rows[name].to_pylist() for name in ODD}


@pytest.mark.parametrize("kind", [pa.uint64(), pa.time64("us"), pa.decimal256(50, 2), pa.null()])
def test_types_that_no_table_holds(tmp_path, kind):
    (tmp_path / "source" / "part=p").mkdir(parents=True)
    rows = pa.table({"id": ["a"], "ts": [1], "odd": pa.nulls(1, kind)})
    pq.write_table(rows, tmp_path / "source" / "part=p" / "x.parquet")
    (problem,) = preflight(request(str(tmp_path)), ENGINE).problems
    assert problem.startswith("part=p/x.parquet: Column 'odd' has")


def _tear(file, column):
    """Damage the pages of one column; the footer stays as it was."""
    place = pq.ParquetFile(file).metadata.row_group(0).column(column)
    start = place.dictionary_page_offset or place.data_page_offset
    content = bytearray(file.read_bytes())
    content[start : start + place.total_compressed_size] = b"\xff" * place.total_compressed_size
    file.write_bytes(content)


def test_torn_pages_are_found_before_or_named_after(tmp_path):
    """Torn key pages are found before anything is written; those of columns that no bootstrap reads, by the validation."""
    source = tmp_path / "source"
    put(source, "part=p/good.parquet", ["a"])
    put(source, "part=p/x.parquet", ["b", "c"])
    whole = (source / "part=p/x.parquet").read_bytes()
    _tear(source / "part=p/x.parquet", 0)
    asked = request(str(tmp_path))
    with pytest.raises(SourceError, match=r"part=p/x\.parquet cannot be read"):
        run_bootstrap(asked, FakeClock(), ENGINE)
    assert not (tmp_path / "table").exists()
    (source / "part=p/x.parquet").write_bytes(whole)
    _tear(source / "part=p/x.parquet", 2)
    run_bootstrap(asked, FakeClock(), ENGINE)
    with pytest.raises(HoodieError, match=r"part=p/x\.parquet cannot be read"):
        validate_bootstrap(asked, FakeClock(), ENGINE)


@MODES
def test_keys_and_partitions_inside_structs(tmp_path, mode):
    (tmp_path / "source/Bern").mkdir(parents=True)
    who, place = pa.array([{"id": "a"}, {"id": "b"}]), pa.array([{"city": "Bern"}] * 2)
    rows = pa.table({"who": who, "place": place, "ts": [1, 1], "value": [0, 1]})
    pq.write_table(rows, tmp_path / "source/Bern/x.parquet")
    nested = {
        "hoodie.table.recordkey.fields": "who.id",
        "hoodie.table.partition.fields": "place.city",
        "hoodie.datasource.write.hive_style_partitioning": "false",
    }
    table = made(request(str(tmp_path), nested, mode=mode))
    assert table.write(rows.set_column(3, "value", pa.array([5, 6])), "upsert", SMALL).rows_updated == 2
    assert sorted(table.read()["value"].to_pylist()) == [5, 6]
    lost = {**nested, "hoodie.table.recordkey.fields": "who.nr"}
    (problem,) = preflight(request(str(tmp_path), lost, mode=mode), ENGINE).problems
    assert problem.startswith("the record key column 'who.nr' is not in the source")
    pq.write_table(pa.concat_tables([rows, rows]), tmp_path / "source/Bern/x.parquet")
    (problem,) = preflight(request(str(tmp_path), nested, mode=mode), ENGINE).problems
    assert problem.startswith("2 record keys are not unique: ")


@pytest.mark.parametrize("gathered", [0, 1 << 20], ids=["exchanged", "gathered"])
def test_duplicates_are_looked_for_in_all_keys_in_a_sample_or_not_at_all(tmp_path, monkeypatch, gathered):
    monkeypatch.setattr("hoodie.services.bootstrap.check._GATHERED", gathered)
    many = [f"k{number}" for number in range(1500)]
    for name in "ab":
        put(tmp_path / "source", f"part=p/{name}", many)
    put(tmp_path / "source", "part=q/a", many)  # the same keys in another partition are other records
    (problem,) = preflight(request(str(tmp_path)), ENGINE).problems
    assert problem.startswith("1500 record keys are not unique: 'k")
    assert "' of partition 'part=p' occurs 2 times" in problem
    (problem,) = preflight(request(str(tmp_path), check_keys="SAMPLE"), ENGINE).problems
    assert 5 < int(problem.split()[0]) < 60
    assert "not unique in the sample" in problem
    assert preflight(request(str(tmp_path), check_keys="NONE"), ENGINE).problems == ()


def test_keys_that_share_a_hash_are_compared(tmp_path, monkeypatch):
    put(tmp_path / "source", "part=p/a", ["a", "b"])
    put(tmp_path / "source", "part=q/a", ["a"])
    zeros = lambda rows: np.zeros(rows.num_rows, dtype=np.uint64)  # noqa: E731
    monkeypatch.setattr("hoodie.services.bootstrap.check.row_hashes", zeros)
    assert preflight(request(str(tmp_path)), ENGINE).problems == ()
    put(tmp_path / "source", "part=q/b", ["c", "a"])
    (problem,) = preflight(request(str(tmp_path)), ENGINE).problems
    assert problem.startswith("1 record keys are not unique: 'a' of partition 'part=q' occurs 2 times")


def test_null_keys_that_no_statistics_tell(tmp_path):
    put(tmp_path / "source", "part=p/a", ["a", None], write_statistics=False)
    with pytest.raises(SourceError, match="null"):
        run_bootstrap(request(str(tmp_path)), FakeClock(), ENGINE)
    assert not (tmp_path / "table").exists()
    with pytest.raises(HoodieError, match="null"):
        run_bootstrap(request(str(tmp_path), check_keys="NONE"), FakeClock(), ENGINE)
    assert HoodieTable.open(f"{tmp_path}/table").timeline.commits == ()
    assert not list((tmp_path / "table").rglob("*.parquet"))


class _Counting(LocalStorage):
    """Counts the bytes that are read of files."""

    read_bytes = 0

    def open_input(self, path):
        return pa.PythonFile(_Tap(super().open_input(path)), "r")


class _Tap:
    def __init__(self, file):
        self._file = file

    def read_buffer(self, size):
        data = self._file.read_buffer(size)
        _Counting.read_bytes += len(data)
        return data

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_bytes_of_other_columns_are_not_read(tmp_path, monkeypatch):
    (tmp_path / "source" / "part=p").mkdir(parents=True)
    rows = pa.table(
        {"id": [f"{n}" for n in range(1000)], "ts": [1] * 1000, "wide": [str(n) * 2000 for n in range(1000)]}
    )
    pq.write_table(rows, tmp_path / "source" / "part=p" / "x.parquet", use_dictionary=False, compression="none")
    monkeypatch.setattr("hoodie.services.bootstrap.request.open_storage", _Counting)
    result = run_bootstrap(request(str(tmp_path)), FakeClock(), ENGINE)
    assert 0 < result.plan.bytes_read <= _Counting.read_bytes < 250_000 < 2_000_000 < result.plan.bytes


def test_a_column_of_folders_that_the_table_has_not_is_not_lost(tmp_path):
    """Copied rows would have no `hour`, in a table of fewer partition columns."""
    for hour in ("1", "2"):
        put(tmp_path / "source", f"part=p/hour={hour}/f.parquet", [f"k{hour}"])
    for fields, lost in (("part", "hour"), ("", "part")):
        with pytest.raises(SourceError, match=f"the column '{lost}' is in names of folders alone"):
            made(request(tmp_path, {"hoodie.table.partition.fields": fields}, mode="FULL_RECORD"))
    put(tmp_path / "source", "part=p/hour=1/f.parquet", ["k1"], part="p")
    (tmp_path / "source/part=p/hour=2/f.parquet").unlink()
    (tmp_path / "source/part=p/hour=1").rename(tmp_path / "source/part=p/no-column")
    assert content(made(request(tmp_path, mode="FULL_RECORD"))) == [("p", "k1", 0)]


@MODES
def test_integers_beside_floats_are_not_rounded(tmp_path, mode):
    def write(name, value):
        rows = {
            "id": [name],
            "ts": pa.array([1], pa.int64()),
            "part": ["p"],
            "n": value,
            "s": pa.StructArray.from_arrays([value], ["n"]),
        }
        target = tmp_path / f"source/part=p/{name}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(rows), target)

    write("a", pa.array([1.5], pa.float64()))
    write("b", pa.array([2**53 + 1], pa.int64()))
    with pytest.raises(
        HoodieError, match=r"Column 'n' has values that do not fit|column 'n' is double, which would round"
    ):
        made(request(tmp_path, mode=mode))
    write("b", pa.array([7], pa.int32() if mode == "METADATA_ONLY" else pa.int64()))
    rows = made(request(tmp_path, mode=mode)).read().to_pylist()
    assert {row["id"]: (row["n"], row["s"]["n"]) for row in rows} == {"a": (1.5, 1.5), "b": (7.0, 7.0)}


@MODES
@pytest.mark.parametrize("name", ["part=q", "part=p/b.parquet", "part=q/deep", "_k=1"])
def test_a_link_that_leads_nowhere_stops_a_bootstrap(tmp_path, mode, name):
    """Its rows would be missing in the table, as with a disk that is not mounted."""
    put(tmp_path / "source", "part=p/a.parquet", ["a"])
    (tmp_path / "source" / "part=p" / ".hidden").symlink_to("nowhere")
    (tmp_path / "source" / "_SUCCESS").symlink_to("nowhere")
    link = tmp_path / "source" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "unmounted")
    with pytest.raises(SourceError, match=f"The link {name} in the source .* leads nowhere.*nothing was written"):
        run_bootstrap(request(tmp_path, mode=mode), FakeClock(), ENGINE)
    assert not (tmp_path / "table").exists()
    link.unlink()
    assert content(made(request(tmp_path, mode=mode))) == [("p", "a", 0)]
