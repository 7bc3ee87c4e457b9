"""Plain tables taken over: what is read, what is written, what is refused."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, HoodieError, SourceError, TableExistsError, UnsafeDeleteError
from hoodie.model.names import FULL_BOOTSTRAP
from hoodie.services.bootstrap import BootstrapRequest, preflight, run_bootstrap, validate_bootstrap
from hoodie.storage import LocalStorage, walk_files
from hoodie.timeline import Action
from hoodie.timeline.codecs.clean import decode_clean_plan, encode_clean_plan
from hoodie.transaction import instants
from hoodie.transaction.guard import delete_source_file
from tests.support.clock import FakeClock
from tests.support.sources import SMALL, TABLE, contents, hive_source, put

ENGINE = LocalEngine(2)


def request(tmp_path, table=(), **options):
    names = {
        "mode": "hoodie.bootstrap.mode.selector.regex.mode",
        "regex": "hoodie.bootstrap.mode.selector.regex",
        "format": "hoodie.bootstrap.source.format",
        "check": "hoodie.bootstrap.check.keys",
        "text": "hoodie.bootstrap.binary.as.string",
    }
    given = {names[name]: value for name, value in options.items()}
    source = {"hoodie.bootstrap.base.path": str(tmp_path / "source")}
    return BootstrapRequest(str(tmp_path / "table"), {**TABLE, **dict(table)}, {**source, **SMALL, **given})


def run(asked):
    result = run_bootstrap(asked, FakeClock(), ENGINE)
    return result, HoodieTable.open(asked.base_path, engine=ENGINE, clock=FakeClock())


def content(table, **read):
    rows = table.read(**read).to_pylist()
    return sorted((row["part"], row["id"], row["ts"], row["value"]) for row in rows)


HIVE = [("p1", "a", 1, 0), ("p1", "b", 1, 1), ("p1", "c", 1, 2), ("p1", "d", 1, 0), ("p2", "a", 1, 0)]
HIVE += [("p2", key, 1, number) for number, key in enumerate("efgh", 1)]


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize(
    ("options", "times"),
    [
        ({}, ["00000000000001"]),
        ({"mode": "FULL_RECORD"}, ["00000000000002"]),
        ({"regex": "part=p2"}, ["00000000000001", "00000000000002"]),
    ],
)
def test_a_hive_table(tmp_path, version, kind, options, times):
    source = hive_source(tmp_path / "source")
    before = contents(source)
    asked = request(tmp_path, {"hoodie.write.table.version": version, "hoodie.table.type": kind}, **options)
    result, table = run(asked)
    assert content(table) == HIVE
    assert [instant.time for instant in table.timeline.commits] == times
    assert result.rows == len(HIVE)
    assert run_bootstrap(asked, FakeClock(), ENGINE).repeated
    rows = pa.table({"id": ["a", "x"], "ts": [2, 2], "value": [9, 9], "part": ["p1", "p1"]})
    table.write(rows, "upsert", SMALL)
    wanted = sorted([("p1", "a", 2, 9), ("p1", "x", 2, 9), *(row for row in HIVE if row[:2] != ("p1", "a"))])
    assert content(table) == wanted
    assert content(table, as_of=times[-1]) == HIVE
    assert content(table, filter=pc.field("part") == "p2") == [row for row in wanted if row[0] == "p2"]
    assert table.read(columns=["value"], filter=pc.field("id") == "h").to_pylist() == [{"value": 4}]
    found = table.read(columns=["_hoodie_record_key"], filter=pc.field("id") == "h", as_of=times[-1])
    assert found.to_pylist() == [{"_hoodie_record_key": "h"}], (
        "a row group of the source, a part of one of the skeleton"
    )
    last = table.timeline.commits[len(times) - 1]
    end = last.completion_time if version == "9" else last.time
    assert table.read_incremental(None, end).num_rows == len(HIVE)
    table.write(rows.slice(1), "delete", SMALL)
    assert content(table) == [row for row in wanted if row[1] != "x"]
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL)
        assert content(table) == [row for row in wanted if row[1] != "x"]
    assert contents(source) == before
    assert not table.storage.list(".hoodie/.temp").folders


def test_rows_written_between_the_two_commits_of_a_mix_stop_the_rest(tmp_path):
    """Keys of the partitions that are not there yet were new to that write: they would be there twice."""
    hive_source(tmp_path / "source")
    asked = request(tmp_path, regex="part=p2")
    _, table = run(asked)
    storage = table.storage
    for file in storage.list(".hoodie/timeline").files:  # as if killed before the second commit
        if file.name.startswith(FULL_BOOTSTRAP):
            storage.delete(file.path)
    table.write(pa.table({"id": ["a"], "ts": [2], "value": [9], "part": ["p1"]}), "upsert", SMALL)
    with pytest.raises(TableExistsError, match="was written to before its bootstrap was done"):
        run_bootstrap(asked, FakeClock(), ENGINE)
    assert content(table) == sorted([("p1", "a", 2, 9), *(row for row in HIVE if row[0] == "p2")])


def test_files_of_an_attempt_whose_tasks_outlived_it_are_deleted(tmp_path):
    """It had the same instants, which are before all others: its files would count as committed."""
    hive_source(tmp_path / "source")
    asked = request(tmp_path, mode="FULL_RECORD")
    _, table = run(asked)
    stray = next(file.path for file in walk_files(table.storage, "part=p1") if file.path.endswith(".parquet"))
    elsewhere = tmp_path / "again"
    other = replace(asked, base_path=str(elsewhere))

    class Late(LocalEngine):
        def map_input(self, function, rows):
            late = elsewhere / "part=p1" / stray.rpartition("/")[2]
            late.parent.mkdir(parents=True, exist_ok=True)
            late.write_bytes(table.storage.read(stray))
            return super().map_input(function, rows)

    run_bootstrap(other, FakeClock(), Late(1))
    assert content(HoodieTable.open(str(elsewhere))) == HIVE


def test_new_rows_do_not_copy_a_source_file(tmp_path):
    hive_source(tmp_path / "source")
    _, table = run(request(tmp_path))
    table.write(pa.table({"id": ["x"], "ts": [2], "value": [9], "part": ["p1"]}), "upsert", SMALL)
    assert sum(s.base_file.source is not None for s in table.file_slices()) == 3


@pytest.mark.parametrize("mode", ["METADATA_ONLY", "FULL_RECORD"])
def test_nested_plain_folders_of_typed_columns(tmp_path, mode):
    """The folders alone say which year and month: int32 where nothing is lost by it, text for `01`."""
    put(tmp_path / "source", "2024/01/a.parquet", ["a"])
    put(tmp_path / "source", "2024/12/b.parquet", ["b"])
    table = {"hoodie.table.partition.fields": "year,month", "hoodie.datasource.write.hive_style_partitioning": "false"}
    plan = preflight(request(tmp_path, table, mode=mode), ENGINE)
    assert (plan.layout, plan.inside, plan.outside) == ("plain", (), ("year", "month"))
    _, table = run(request(tmp_path, table, mode=mode))
    assert [(row["year"], row["month"], row["id"]) for row in table.read().to_pylist()] == [
        (2024, "01", "a"),
        (2024, "12", "b"),
    ]


def test_partition_columns_inside_the_files(tmp_path):
    put(tmp_path / "source", "part=p1/a", ["a"], part="p1")
    put(tmp_path / "source", "part=p2/a", ["b"], part="p2")
    plan = preflight(request(tmp_path), ENGINE)
    assert (plan.layout, plan.inside, plan.outside, plan.problems) == ("hive", ("part",), (), ())
    _, table = run(request(tmp_path))
    assert content(table) == [("p1", "a", 1, 0), ("p2", "b", 1, 0)]


def test_files_of_hive_and_impala(tmp_path):
    """INT96, two-level lists, dictionary-encoded text without the annotation, INT8."""
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    rows = pa.table(
        {
            "id": pa.array([b"a", b"b"], pa.binary()),
            "ts": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "small": pa.array([1, None], pa.int8()),
            "list": pa.array([[1, 2], None], pa.list_(pa.int32())),
        }
    )
    (tmp_path / "source").mkdir()
    for name, key in (("x", b"a"), ("y", b"c")):
        changed = rows.set_column(0, "id", pa.array([key, key + b"2"], pa.binary()))
        pq.write_table(
            changed,
            tmp_path / "source" / name,
            use_deprecated_int96_timestamps=True,
            use_compliant_nested_type=False,
            store_schema=False,
        )
    table = {"hoodie.table.partition.fields": "", "hoodie.table.ordering.fields": ""}
    notes = " ".join(preflight(request(tmp_path, table, text=True), ENGINE).notes)
    assert "INT96" in notes
    _, table = run(request(tmp_path, table, text=True))
    found = table.read()
    assert found.schema.field("small").type == pa.int32()
    assert {row["id"]: row["ts"] for row in found.to_pylist()} == {"a": moment, "a2": None, "c": moment, "c2": None}
    assert found["list"].to_pylist() == [[1, 2], None] * 2


def test_orc_is_copied(tmp_path):
    (tmp_path / "source" / "part=p1").mkdir(parents=True)
    orc.write_table(pa.table({"id": ["a"], "ts": [1], "value": [7]}), tmp_path / "source" / "part=p1" / "x.orc")
    assert "FULL_RECORD" in preflight(request(tmp_path, format="ORC"), ENGINE).problems[0]
    _, table = run(request(tmp_path, format="ORC", mode="FULL_RECORD"))
    assert content(table) == [("p1", "a", 1, 7)]


def _break(source, what):
    if what == "a Hudi table":
        (source / ".hoodie").mkdir()
    elif what == "a partition of one":
        (source / "part=p1" / ".hoodie_partition_metadata").write_bytes(b"commitTime=1")
    elif what == "being copied":
        (source / "part=p1" / "x.parquet._COPYING_").write_bytes(b"PAR1")
    elif what == "a torn file":
        (source / "part=p1" / "x").write_bytes((source / "part=p1" / "000000_0").read_bytes()[:-20])
    elif what == "being written":
        (source / "part=p1" / "_temporary").mkdir()
    elif what == "an empty file":
        (source / "part=p1" / "x").write_bytes(b"")
    elif what == "no rows":
        put(source, "part=p1/x", [])
    elif what == "not Parquet":
        (source / "part=p1" / "x").write_bytes(b"a,b\n1,2\n")
    elif what == "no key column":
        pq.write_table(pa.table({"ts": [1], "value": [1]}), source / "part=p1" / "x")
    elif what == "null keys":
        put(source, "part=p1/x", ["n", None])
    elif what == "keys twice":
        put(source, "part=p1/x", ["a"])
    elif what == "another type":
        pq.write_table(pa.table({"id": ["q"], "ts": [1], "value": ["text"]}), source / "part=p1" / "x")
    elif what == "a lone file":
        put(source, "x", ["q"])
    elif what == "another partition":
        put(source, "part=p1/x", ["q"], part="p2")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("a Hudi table", "Hudi table already"),
        ("a partition of one", "Hudi table already"),
        ("being written", "being written to"),
        ("being copied", "being written to"),
        ("a torn file", "part=p1/x .it cannot be read"),
        ("an empty file", "0 bytes"),
        ("no rows", "hold no rows: part=p1/x"),
        ("not Parquet", "part=p1/x .it cannot be read"),
        ("no key column", "record key column 'id' is missing from 1 files: part=p1/x"),
        ("null keys", "record key column 'id' is null in 1 files"),
        ("keys twice", "not unique: 'a' of partition 'part=p1' occurs 2 times"),
        ("another type", "'value'"),
        ("a lone file", "partition column 'part' is missing"),
        ("another partition", "another partition than its folder"),
    ],
)
def test_bad_sources_are_refused_before_anything_is_written(tmp_path, what, message):
    source = hive_source(tmp_path / "source")
    _break(source, what)
    with pytest.raises(HoodieError, match=message):
        run(request(tmp_path))
    left = [
        file.path for file in walk_files(request(tmp_path).storage, "") if file.name.endswith((".parquet", ".hfile"))
    ]
    assert left == []
    if what not in ("another partition",):
        assert not (tmp_path / "table").exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"hoodie.datasource.write.hive_style_partitioning": "false"},
            "would not: set hoodie.datasource.write.hive_style_part",
        ),
        ({"hoodie.table.partition.fields": ""}, "not those of the table's partitions"),
        ({"hoodie.table.recordkey.fields": "nothing"}, "'nothing' is not in the source"),
    ],
)
def test_options_that_do_not_fit_the_source(tmp_path, table, message):
    hive_source(tmp_path / "source")
    with pytest.raises(SourceError, match=message):
        run(request(tmp_path, table))


@pytest.mark.parametrize("what", ["a new file", "a file that goes", "a file written again"])
def test_a_source_that_changes_meanwhile(tmp_path, monkeypatch, what):
    source = hive_source(tmp_path / "source")
    from hoodie.services.bootstrap import execute

    real = execute.write_bootstrap_index

    def change(*arguments):
        if what == "a file that goes":
            (source / "part=p1" / "000000_0").unlink()
        else:
            name = "late.parquet" if what == "a new file" else "000000_0"
            put(source, f"part=p1/{name}", ["x", "y", "late"])
        real(*arguments)

    monkeypatch.setattr(execute, "write_bootstrap_index", change)
    with pytest.raises(SourceError, match=r"came, went or changed during the run: part=p1/(late.parquet|000000_0)"):
        run(request(tmp_path))
    table = HoodieTable.open(str(tmp_path / "table"))
    assert table.timeline.commits == ()
    assert not any(file.name.endswith((".parquet", ".hfile")) for file in walk_files(table.storage, ""))
    monkeypatch.undo()
    _, table = run(request(tmp_path))
    assert (("p1", "late", 1, 2) in content(table)) == (what != "a file that goes")


def test_places_and_other_tables(tmp_path):
    hive_source(tmp_path / "source")
    asked = request(tmp_path)
    with pytest.raises(ConfigError, match="may not lie in each other"):
        preflight(BootstrapRequest(str(tmp_path / "source" / "t"), asked.table, asked.options), ENGINE)
    run(asked)
    with pytest.raises(TableExistsError, match="another selector"):
        run(request(tmp_path, regex="part=p2"))
    with pytest.raises(TableExistsError, match="recordkey"):
        run(request(tmp_path, {"hoodie.table.recordkey.fields": "value"}))


def test_only_keys_are_read_and_only_meta_columns_written(tmp_path):
    keys = [hashlib.md5(b"%d" % number).hexdigest() for number in range(5000)]
    put(tmp_path / "source", "part=p1/a.parquet", keys)
    plan = preflight(request(tmp_path), ENGINE)
    result, table = run(request(tmp_path))
    (found,) = (tmp_path / "table" / "part=p1").glob("*.parquet")
    skeleton = pq.ParquetFile(found)
    assert [name for name in skeleton.schema_arrow.names if not name.startswith("_hoodie")] == []
    assert skeleton.read(["_hoodie_record_key"])[0].to_pylist() == keys
    assert 0.3 < plan.skeleton_bytes / result.bytes_written < 3
    assert "-0_" not in found.name, "file ids of skeletons have no number"
    assert table.read(columns=["_hoodie_commit_seqno"])[0][7].as_py() == "00000000000001_0_7"


@pytest.mark.parametrize("options", [{}, {"mode": "FULL_RECORD"}, {"regex": "part=p2"}])
def test_validation(tmp_path, options):
    hive_source(tmp_path / "source")
    asked = request(tmp_path, **options)
    _, table = run(asked)
    table.write(pa.table({"id": ["a"], "ts": [2], "value": [9], "part": ["p1"]}), "upsert", SMALL)
    found = validate_bootstrap(asked, FakeClock(), ENGINE)
    assert found.different == ()
    assert {name: each.rows for name, each in found.table.items()} == {"part=p1": 4, "part=p2": 5}
    if "mode" in options:  # rows that were copied stay as they were
        put(tmp_path / "source", "part=p2/part-0.parquet", ["a", "e", "f", "g", "H"])
        assert validate_bootstrap(asked, FakeClock(), ENGINE).different == ("part=p2",)


@pytest.mark.parametrize("version", ["9", "6"])
def test_source_files_are_cleaned_only_when_told(tmp_path, version):
    source = hive_source(tmp_path / "source")
    _, table = run(request(tmp_path, {"hoodie.write.table.version": version}))
    rows = pa.table({"id": ["e"], "ts": [2], "value": [9], "part": ["p2"]})
    table.write(rows, "upsert", SMALL)
    table.write(rows, "upsert", SMALL)
    (source / "part=p1" / "notes.parquet").write_bytes(b"of somebody who works beside the table")
    expected, before = content(table), contents(source)
    retain = {"hoodie.clean.commits.retained": 1}
    decision = table.explain(CLEAN, {**retain, "hoodie.cleaner.delete.bootstrap.base.file": True})
    plan = decision.plan
    assert decision.deletion.files == len(plan.files) + len(plan.sources), "the caps count source files, too"
    sizes = [len(body) for body, _ in before.values() if body.startswith(b"PAR1")]
    assert decision.deletion.of_bytes == decision.facts["bytes_seen"] + sum(sizes)
    assert [file.path for file in plan.sources] == [f"file:{source}/part=p2/part-0.parquet"]
    state = table.state()
    body = encode_clean_plan(plan, table.base_path)
    again = decode_clean_plan(body, "x", lambda file: file.removeprefix(table.base_path + "/"))
    assert [file.path for file in again.sources] == [file.path for file in plan.sources]
    if version == "9":
        assert table.run(CLEAN, retain).files_deleted
        assert contents(source) == before
    else:
        table.run(CLEAN, {**retain, "hoodie.cleaner.delete.bootstrap.base.file": True})
        gone = before.keys() - contents(source).keys()
        assert {str(path.relative_to(source)) for path in gone} == {"part=p2/part-0.parquet"}
    assert content(table) == expected
    with pytest.raises(UnsafeDeleteError):
        delete_source_file(LocalStorage(str(source)), f"{source}/../t", [f"{source}/../t"])
    assert state.properties.raw["hoodie.bootstrap.base.path"] == str(source)
    for stranger in (
        f"file:{source}/part=p1/notes.parquet",
        f"file:{source}/../x.parquet",
        f"{table.base_path}/x.parquet",
    ):
        made_up = replace(plan, files=(), sources=(replace(plan.sources[0], path=stranger),))
        body = encode_clean_plan(made_up, table.base_path)
        pending = instants.request(state, "20990101000000000", Action.CLEAN, body)
        before = contents(source)
        with pytest.raises(UnsafeDeleteError):
            table.run(CLEAN, retain)
        assert contents(source) == before
        table.storage.delete(f"{state.layout.folder}/{pending.file_name}")
