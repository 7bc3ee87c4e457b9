"""The tolerated share of bad rows, and what becomes of the rows."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pytest

import hoodie.table
from hoodie.errors import ConfigError, RecordKeyError, SourceError
from hudi_services.sources.ingest.quarantine import Counts, QuarantineWriter
from tests.support.archive import archive_before
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import batch

GOOD = "id,part,ts,value\n" + "".join(f"g{n},p,{n},{n}\n" for n in range(8))
TWO_BAD = "id,part,ts,value\n,p,1,1\nb,p,,1\n"  # with GOOD: 2 of 10 rows


@pytest.fixture
def mixed(feed):
    feed.land("good.csv", GOOD)
    feed.land("bad.csv", TWO_BAD)
    return feed


@pytest.mark.parametrize("share", [0.2, 0.21, 1.0])
def test_up_to_the_share_the_good_rows_are_loaded(mixed, share):
    result = mixed.run("csv", max_bad_share=share)
    assert (result.rows_read, result.rows_quarantined, result.rows_inserted) == (10, 2, 8)
    assert set(mixed.content) == {f"g{n}" for n in range(8)}
    table = mixed.open()
    extra = table.state().commit_metadata(table.timeline.last_commit).extra
    assert extra["hudi_services.quarantine"] in result.message
    assert mixed.run("csv", max_bad_share=share).instant is None, "quarantined rows are not tried again"


@pytest.mark.parametrize("share", [0.0, 0.1999])
def test_above_the_share_nothing_is_committed_and_the_rows_are_kept(mixed, share):
    mixed.land("0.parquet", batch([("a", "p", 1, 1)]))
    mixed.run()
    before = [instant.time for instant in mixed.open().timeline.commits]
    with pytest.raises(
        SourceError,
        match=rf"^2 of 10 rows .* allowed share of {share:.2%}, such as bad.csv: line 2: column id is null "
        "or empty; all rows and reasons are in .*",
    ):
        mixed.run("csv", max_bad_share=share)
    assert [instant.time for instant in mixed.open().timeline.commits] == before
    assert set(mixed.content) == {"a"}
    assert mixed.open().timeline.pending == ()
    rows = sorted((path, reason, row["value"]) for path, reason, row in mixed.quarantined)
    assert rows == [
        ("bad.csv", "line 2: column id is null or empty", 1),
        ("bad.csv", "line 3: column ts is null or empty", 1),
    ]


def test_a_repaired_source_is_loaded_whole_after_a_refusal(mixed):
    with pytest.raises(SourceError):
        mixed.run("csv")
    mixed.land("bad.csv", TWO_BAD.replace("\n,p", "\nc,p").replace("b,p,,", "b,p,1,"))
    assert mixed.run("csv").rows_inserted == 10


def test_a_run_of_nothing_but_bad_rows_is_one_commit_without_files(feed):
    feed.land("bad.csv", TWO_BAD)
    assert feed.run("csv", max_bad_share=1.0).rows_written == 0
    assert feed.content == {}
    assert feed.run("csv").instant is None


def test_each_run_has_a_folder_of_its_own_where_it_is_asked_for(mixed, tmp_path):
    elsewhere = tmp_path / "bad" / "rows"
    for _ in range(2):
        with pytest.raises(SourceError):
            mixed.run("csv", quarantine_path=str(elsewhere))
    folders = [path for path in elsewhere.iterdir() if path.is_dir()]
    assert len(folders) == 2
    assert all(list(folder.glob("*.jsonl")) for folder in folders)
    assert not mixed.quarantine.exists()


def test_a_row_with_two_faults_is_one_bad_row(feed):
    feed.land("bad.csv", "id,part,ts,value\n,p,,1\na,p,1,1\n")
    assert feed.run("csv", max_bad_share=0.5).rows_quarantined == 1


def test_bad_keys_of_a_delete_are_quarantined_and_ordering_values_are_not_asked_for(feed):
    feed.land("good.csv", GOOD)
    feed.run("csv")
    feed.land("gone.csv", "id,part,ts\ng1,p,\n,p,\n")
    result = feed.run("csv", operation="delete", max_bad_share=0.5)
    assert (result.rows_deleted, result.rows_quarantined) == (1, 1)
    assert "g1" not in feed.content


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_share_that_is_none_is_refused(mixed, share):
    with pytest.raises(ConfigError, match="a number from 0 to 1"):
        mixed.run("csv", max_bad_share=share)
    assert not mixed.table.exists()


PATHS = {"hoodie.datasource.write.hive_style_partitioning": "false"}


@pytest.mark.parametrize(
    "value", ["..", ".", "a/../b", "/a", "a//b", "a:b", ".hoodie", "zero\0byte", "x" * 300, "é" * 130]
)
def test_rows_without_a_partition_path_are_quarantined(feed, value):
    feed.land(
        "1.json", [{"id": "a", "part": "p", "ts": 1, "value": 1}, {"id": "b", "part": value, "ts": 1, "value": 1}]
    )
    result = feed.run("json", PATHS, max_bad_share=0.5)
    assert (result.rows_inserted, result.rows_quarantined) == (1, 1)
    [(_, reason, row)] = feed.quarantined
    assert reason.startswith("line 2: no partition path can be made of part: part is no folder name")
    assert ": correct the value" in reason, "what to do"
    assert row["part"] == value
    feed.land("2.json", [{"id": "b", "part": value, "ts": 1, "value": 1}])
    with pytest.raises(SourceError, match="1 of 1 rows"):
        feed.run("json", PATHS)


TIMES = {
    "hoodie.table.keygenerator.type": "TIMESTAMP",
    "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
    "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
}
SLASHES = {
    "hoodie.datasource.write.slash.separated.date.partitioning": "true",
    "hoodie.datasource.write.hive_style_partitioning": "false",
}


@pytest.mark.parametrize("options", [TIMES, SLASHES], ids=["times", "days"])
def test_text_that_is_no_time_is_quarantined(feed, options):
    days = ["2026-01-31", "soon", "2026-02-01"]
    feed.land("1.json", [{"id": f"k{n}", "part": day, "ts": 1, "value": 1} for n, day in enumerate(days)])
    assert feed.run("json", options, max_bad_share=0.5).rows_quarantined == 1
    assert set(feed.content) == {"k0", "k2"}


def test_a_type_that_makes_no_partition_path_is_told_before_anything_is_created(feed):
    feed.land("1.json", [{"id": "a", "part": "2026-01-31T01:02:03", "ts": 1, "value": 1}])
    with pytest.raises(RecordKeyError, match="'part' cannot be a partition column"):
        feed.run("json")
    assert not feed.table.exists()


def test_every_row_that_was_read_is_accounted_for(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,1\na,p,2,2\n,p,1,1\nb,p,5,1\n")
    first = feed.run("csv", max_bad_share=0.5)
    assert (first.rows_read, first.rows_written, first.rows_duplicate, first.rows_quarantined) == (4, 2, 1, 1)
    feed.land("2.csv", "id,part,ts,value\na,p,3,3\nc,q,1,1\n")
    second = feed.run("csv")
    assert (second.rows_read, second.rows_inserted, second.rows_updated, second.rows_duplicate) == (2, 1, 1, 0)
    feed.land("3.csv", "id,part,ts\na,p,4\ngone,p,4\n")
    third = feed.run("csv", operation="delete")
    assert (third.rows_read, third.rows_deleted, third.rows_without_effect) == (2, 1, 1)


def killed_at(feed, monkeypatch, name, path, half):
    """A run of `mixed` that is killed at the last such call to the table's storage."""
    log = FaultyStorage(feed.table)
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: log)
        feed.run("csv", max_bad_share=0.5)
    return max(n for n, (call, at) in enumerate(log.log, 1) if call == name and path in at), half


@pytest.mark.parametrize(
    ("name", "path", "half", "committed"),
    [
        pytest.param("create", ".commit", False, False, id="before the commit"),
        pytest.param("create", ".commit", True, True, id="after the commit"),
    ],
)
def test_rows_of_a_killed_run_stay_only_when_it_committed(mixed, monkeypatch, name, path, half, committed):
    mixed.land("0.parquet", batch([("a", "p", 1, 1)]))
    mixed.run()
    origin = mixed.table.with_name("origin")
    shutil.copytree(mixed.table, origin)
    at, half = killed_at(mixed, monkeypatch, name, path, half)
    shutil.rmtree(mixed.table)
    shutil.rmtree(mixed.quarantine)
    origin.rename(mixed.table)
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: FaultyStorage(mixed.table, at, half=half))
        with pytest.raises(Killed):
            mixed.run("csv", max_bad_share=0.5)
    assert len(mixed.quarantined) == 2
    mixed.land("more.csv", "id,part,ts,value\nm,p,1,1\n,p,1,1\n")
    mixed.run("csv", max_bad_share=0.5)
    assert len(mixed.quarantined) == 3, "the rows of each commit, once"
    assert len(list(mixed.quarantine.iterdir())) == (2 if committed else 1)
    assert set(mixed.content) == {"a", "m", *(f"g{n}" for n in range(8))}


def test_a_killed_run_does_not_make_the_next_one_read_the_archived_timeline(feed, monkeypatch):
    for number in range(3):
        feed.land(f"{number}.csv", GOOD)
        feed.run("csv")
    table = feed.open()
    archive_before(table, table.timeline.last_commit.time)
    killed = QuarantineWriter(str(feed.quarantine), str(feed.table), "run-killed")
    with killed.open(0) as rows:
        rows.add_unread("x.csv", "text", "reason")
    log = FaultyStorage(feed.table)
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: log)
        feed.land("more.csv", GOOD)
        feed.run("csv")
    assert feed.quarantined == []
    assert [path for _, path in log.log if path.startswith(table.state().layout.archive_folder)] == []


def test_a_run_that_fails_for_another_reason_leaves_no_rows(mixed, monkeypatch):
    def fail(*_):
        raise OSError("No space left")

    monkeypatch.setattr("hoodie.transaction.transaction.reconcile_markers", fail)
    with pytest.raises(OSError, match="No space"):
        mixed.run("csv", max_bad_share=0.5)
    assert list(mixed.quarantine.iterdir()) == []


def test_a_run_leaves_those_of_other_tables_alone(feed, tmp_path):
    """The folder of one quarantine may serve many tables; a run of another one may be at work."""
    shared = tmp_path / "bad"
    other = QuarantineWriter(str(shared), "/other/table", "run-1")
    with other.open(0) as rows:
        rows.add_unread("x.csv", "text", "reason")
    feed.land("1.csv", GOOD)
    feed.run("csv", quarantine_path=str(shared))
    assert other.totals() == Counts(1, 0, 1, "x.csv: reason")
    assert (shared / "run-1" / "rows-0.jsonl").exists()


def test_a_task_that_runs_again_replaces_what_it_wrote(tmp_path):
    writer = QuarantineWriter(str(tmp_path), "/table", "run-1")
    for good in (3, 5):
        with writer.open(0) as rows:
            rows.good, rows.filtered = good, 2
            rows.add_unread("x.csv", "text", "reason")
    assert writer.totals() == Counts(8, 2, 1, "x.csv: reason")
    writer.finish(keep_rows=False)
    assert list(tmp_path.iterdir()) == []


def _no_json(constant):
    raise AssertionError(f"{constant} is no JSON")


def test_values_that_python_or_json_lacks_are_told_as_text(feed):
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"]).buffers())
    inside = [("day", pa.date32()), ("share", pa.float32()), ("more", pa.list_(pa.float64()))]
    rows = {
        "id": pa.array([None], pa.string()),
        "part": ["p"],
        "ts": [1],
        "share": [float("nan")],
        "at": pa.array([10**18], pa.timestamp("us", "UTC")),
        "told": broken,
        "deep": pa.array(
            [{"day": 10**8, "share": float("inf"), "more": [1.5, None, float("-inf")]}], pa.struct(inside)
        ),
        "map": pa.array([[("a", 1.0), ("b", None)]], pa.map_(pa.string(), pa.float64())),
    }
    feed.land("a.parquet", pa.table(rows))
    result = feed.run(max_bad_share=1)
    assert result.rows_quarantined == 1
    (path,) = feed.quarantine.rglob("*.jsonl")
    (line,) = path.read_text().splitlines()
    assert json.loads(line, parse_constant=_no_json)["row"] == {
        "id": None,
        "part": "p",
        "ts": 1,
        "share": "nan",
        "at": "1000000000000000000 (timestamp[us, tz=UTC])",
        "told": "a\ufffd",
        "deep": {"day": "100000000 (date32[day])", "share": "inf", "more": [1.5, None, "-inf"]},
        "map": {"a": 1.0, "b": None},
    }


@pytest.mark.parametrize("step", ["schema", "cast", "timestamps"])
def test_a_time_beyond_the_years_of_python_goes_to_the_quarantine(feed, step):
    far = pa.array([10**18, 0], pa.timestamp("us"))
    feed.land("a.parquet", pa.table({"id": ["far", "a"], "part": ["p", "p"], "ts": [1, 1], "value": far}))
    columns = {"id": "string", "part": "string", "ts": "bigint", "value": "date"}
    shapes = {"schema": columns, "cast": {"value": "date"}, "timestamps": {"value": {"zone": "UTC"}}}
    result = feed.run(declared={step: shapes[step]}, max_bad_share=1)
    assert (result.rows_inserted, result.rows_quarantined) == (1, 1)
    ((path, reason, row),) = feed.quarantined
    assert (path, row["id"]) == ("a.parquet", "far")
    assert "1000000000000000000" in reason


def test_rows_that_only_share_the_text_of_their_key_are_quarantined(feed):
    feed.land("keys.csv", 'id,part,ts,value\n"x,part:y",z,1,1\nx,"y,part:z",1,2\nq,q,1,3\n')
    keys = {"hoodie.table.recordkey.fields": "id,part", "hoodie.table.partition.fields": ""}
    result = feed.run("csv", options=keys, max_bad_share=1)
    assert (result.rows_quarantined, result.rows_inserted) == (2, 1)
    assert feed.open().read(columns=["value"]).to_pydict() == {"value": [3]}


def test_the_most_frequent_reason_is_the_example_and_many_rows_mean_a_wrong_declaration(feed):
    lines = [",p,2,2", *(f"n{n},p,,{n}" for n in range(20)), *(f"g{n},p,3,3" for n in range(9))]
    feed.land("bad.csv", "id,part,ts,value\n" + "".join(f"{line}\n" for line in lines))
    with pytest.raises(SourceError, match=r"^21 of 30 rows .* such as bad.csv: line 3: column ts is null") as raised:
        feed.run("csv", max_bad_share=0.1)
    assert raised.value.fix.startswith("correct the columns and types of `source.schema`")
