"""CALL: what each procedure gives, and what is said of calls that are wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import HoodieTable
from hoodie.errors import DeleteCapError, HoodieError, NoSavepointError, RollbackError, SqlError, TableNotFoundError
from hoodie.sql import connect
from hoodie.sql.procedures.catalogue import ABSENT, PROCEDURES
from tests.support.scripts import script

CREATE = (
    "create table t (id int, name string, price double, ts bigint, dt string) using hudi tblproperties (primaryKey='id', "
    "preCombineField='ts', type='{kind}', 'hoodie.clean.automatic'='false', 'hoodie.compact.inline'='false') partitioned by (dt)"
)


@pytest.fixture(params=["cow", "mor"])
def kind(request):
    return request.param


@pytest.fixture
def db(kind, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(CREATE.format(kind=kind))
        connection.sql("insert into t values (1, 'a', 1, 1, 'x'), (2, 'b', 2, 1, 'x'), (3, 'c', 3, 1, 'y')")
        connection.sql("update t set price = 5 where id = 1; update t set price = 6 where id = 1")
        connection.sql("delete from t where id = 3")
        yield connection


def called(db, call):
    return db.sql(f"call {call}").table.to_pylist()


def times(db):
    return [row["commit_time"] for row in called(db, "show_commits('t')")]


def test_commits(db, kind):
    found = called(db, "show_commits(table => 't')")
    written = 0 if kind == "mor" else 2
    assert [row["total_records_written"] for row in found] == [0, written or 1, written or 1, 3]
    assert [(row["total_files_added"], row["total_files_updated"]) for row in found] == [(0, 1), (0, 1), (0, 1), (2, 0)]
    assert {row["action"] for row in found} == {"commit" if kind == "cow" else "deltacommit"}
    assert all(row["commit_time"] < row["state_transition_time"] for row in found)
    assert (
        called(db, "show_commits('t', 2)")
        == found[:2]
        == called(db, "show_commits(`table` => 'default.T', limit => '2')")
    )
    stats = called(db, "show_commits_metadata('t')")
    assert [(row["partition"], row["num_inserts"], row["num_update_writes"], row["num_deletes"]) for row in stats] == [
        ("dt=y", 0, 0, 1),
        ("dt=x", 0, 1, 0),
        ("dt=x", 0, 1, 0),
        ("dt=x", 2, 0, 0),
        ("dt=y", 1, 0, 0),
    ]
    first = found[-1]["commit_time"]
    assert [
        row["total_records_written"] for row in called(db, f"show_commit_files('t', instant_time => '{first}')")
    ] == [2, 1]
    parts = called(db, f"show_commit_partitions('t', instant_time => '{first}')")
    assert [(row["partition_path"], row["total_records_inserted"]) for row in parts] == [("dt=x", 2), ("dt=y", 1)]
    (whole,) = called(db, f"show_commit_write_stats('t', instant_time => '{first}')")
    assert whole["total_bytes_written"] == found[-1]["total_bytes_written"]
    assert whole["avg_record_size"] == -(-whole["total_bytes_written"] // 3)
    assert [row["metadata_key"] for row in called(db, "show_commit_extra_metadata('t')")] == ["schema"]
    assert called(db, "show_commit_extra_metadata('t', metadata_key => 'none')") == []
    assert called(db, "stats_wa('t', limit => 10)")[-1]["commit_time"] == "Total"
    with pytest.raises(SqlError, match="no completed commit 2020"):
        called(db, "show_commit_files('t', instant_time => '20200101000000000')")


def test_archived_commits_are_found(db, kind):
    if kind == "mor":  # what was not compacted stays
        called(db, "run_compaction('run', 't', options => 'hoodie.compact.inline.max.delta.commits=1')")
    before = times(db)
    called(db, "archive_commits(table => 't', min_commits => 2, max_commits => 3, retain_commits => 1)")
    archived = [row["commit_time"] for row in called(db, "show_archived_commits('t')")]
    first, second = before[-1], before[-2]
    assert archived == before[-len(archived) :]
    assert len(archived) >= 2
    assert [row["commit_time"] for row in called(db, f"show_archived_commits('t', end_ts => '{first}')")] == [first]
    since = called(db, f"show_archived_commits('t', start_ts => '{second}')")
    assert [row["commit_time"] for row in since] == archived[:-1]
    assert len(called(db, "show_archived_commits_metadata('t')")) == len(archived) + 1
    assert len(called(db, f"show_commit_files('t', instant_time => '{first}')")) == 2
    found = called(db, "show_timeline(table => 't', showArchived => true)")
    assert [row["instant_time"] for row in found if row["timeline_type"] == "ARCHIVED"] == archived


def test_timeline_and_rollbacks(db):
    db.sql("insert into t values (9, 'z', 1, 1, 'z')")
    last = times(db)[0]
    assert called(db, f"rollback_to_instant('t', '{last}')") == [{"rollback_result": True}]
    (done,) = called(db, "show_rollbacks('t')")
    assert (done["rollback_instant"], done["total_files_deleted"], done["total_partitions"]) == (last, 1, 1)
    (file,) = called(db, f"show_rollback_detail('t', instant_time => '{done['instant']}')")
    assert (file["partition"], file["rollback_instant"], file["succeeded"]) == ("dt=z", f"[{last}]", True)
    name = file["deleted_file"].rpartition("/")[2]
    (status,) = called(db, f"show_file_status(table => 't', partition => 'dt=z/', file => '{name}')")
    assert (status["status"], status["action"], status["instant"]) == ("deleted", "rollback", done["instant"])
    assert called(db, "show_file_status(table => 't', file => 'none')")[0]["status"] == "unknown"
    newest = called(db, "show_timeline(table => 't', limit => 1)")[0]
    assert (newest["action"], newest["state"], newest["rollback_info"]) == (
        "rollback",
        "COMPLETED",
        f"Rolled back: {last}",
    )
    of_commits = called(db, "show_timeline(table => 't', filter => \"action like '%commit'\", limit => 3)")
    assert [row["instant_time"] for row in of_commits] == times(db)[:3]
    with pytest.raises(RollbackError):
        called(db, f"rollback_to_instant('t', '{last}')")
    with pytest.raises(SqlError, match="no completed rollback"):
        called(db, f"show_rollback_detail('t', instant_time => '{last}')")


def test_savepoints(db):
    assert called(db, "create_savepoint(table => 't', comments => 'why; \"?\"', user => 'me')") == [
        {"create_savepoint_result": True}
    ]
    (saved,) = called(db, "show_savepoints('t')")
    (kept,) = HoodieTable.open(db.session.catalog.path + "/t").savepoints()
    assert (kept.instant, kept.by, kept.comments) == (saved["savepoint_time"], "me", 'why; "?"')
    db.sql("delete from t")
    assert db.sql("select count(*) from t").rows() == [(0,)]
    assert called(db, "rollback_to_savepoint('t')") == [{"rollback_savepoint_result": True}]
    assert db.sql("select count(*) from t").rows() == [(2,)]
    with pytest.raises(NoSavepointError):
        called(db, "delete_savepoint('t', '20200101000000000')")
    assert called(db, "delete_savepoint('t')") == [{"delete_savepoint_result": True}]
    with pytest.raises(SqlError, match="no savepoint"):
        called(db, "rollback_to_savepoint('t')")


def test_cleans(db, kind):
    (done,) = called(db, "run_clean(table => 't', retain_commits => 1)")
    deleted = 2 if kind == "cow" else 0
    assert (done["total_files_deleted"], done["earliest_commit_to_retain"]) == (deleted, times(db)[0])
    (shown,) = called(db, "show_cleans('t')")
    assert {name: shown[name] for name in done if name in shown} == {n: v for n, v in done.items() if n in shown}
    by_partition = called(db, "show_cleans_metadata('t')")
    assert [(row["partition_path"], row["success_delete_files"]) for row in by_partition] == [("dt=x", 2)][
        : len(by_partition)
    ]
    assert len(by_partition) == (kind == "cow")
    (plan,) = called(db, "show_clean_plans('t')")
    assert (plan["state"], plan["policy"], plan["total_partitions_to_clean"]) == (
        "COMPLETED",
        "KEEP_LATEST_COMMITS",
        kind == "cow",
    )


def test_a_clean_past_the_caps_stops(tmp_path):
    with connect(tmp_path) as db:
        db.sql(CREATE.format(kind="cow"))
        db.sql("insert into t values (1, 'a', 1, 1, 'x'); update t set price = 5; update t set price = 6")
        with pytest.raises(DeleteCapError):
            called(db, "run_clean('t', retain_commits => 1, options => 'hoodie.delete.max.share=0.01')")
        assert called(db, "show_cleans('t')") == []


def test_compaction(db, kind):
    if kind == "cow":
        with pytest.raises(SqlError, match="has no compactions"):
            called(db, "show_compaction('t')")
        return
    often = "options => 'hoodie.compact.inline.max.delta.commits=1'"
    assert called(db, "run_compaction('schedule', 't')") == []  # none is due
    (planned,) = called(db, f"run_compaction(op => 'schedule', table => 't', {often})")
    assert (planned["operation_size"], planned["state"]) == (2, "REQUESTED")
    assert called(db, "show_compaction('t')") == [planned]
    latest = called(db, "show_fsview_latest('t')")
    assert all(row["delta_size_compaction_scheduled"] == row["total_delta_file_size"] > 0 for row in latest)
    with pytest.raises(SqlError, match="No compaction 1 waits"):
        called(db, "run_compaction('execute', 't', instants => '1')")
    (done,) = called(db, f"run_compaction('execute', 't', timestamp => {planned['timestamp']})")
    assert done == planned | {"state": "COMPLETED"} == called(db, "show_compaction('t')")[0]
    db.sql("update t set price = 7 where id = 2")
    (both,) = called(db, f"run_compaction('run', 't', {often})")
    assert both["state"] == "COMPLETED"
    assert db.sql("select id, price from t order by id").rows() == [(1, 6.0), (2, 7.0)]
    with pytest.raises(SqlError, match="no op"):
        called(db, "run_compaction('stop', 't')")


def test_clustering(tmp_path, kind):
    apart = "set hoodie.parquet.small.file.limit = 0"
    with connect(tmp_path) as db:
        db.sql(f"{CREATE.format(kind=kind)}; {apart}")
        for number in (1, 2, 3, 4):
            db.sql(f"insert into t values ({number}, 'a', {number}, 1, '{'xy'[number % 2]}')")
        rows = db.sql("select id, price from t order by id").rows()
        assert called(db, "show_clustering('t')") == []
        (planned,) = called(db, "run_clustering(table => 't', op => 'schedule', order => 'price')")
        assert planned == planned | {"input_group_size": 2, "state": "REQUESTED", "involved_partitions": "*"}
        (shown,) = called(db, "show_clustering('t', show_involved_partition => true)")
        assert len(shown["involved_partitions"].split(",")) == 2
        with pytest.raises(SqlError, match="No clustering 1 waits"):
            called(db, "run_clustering('t', op => 'execute', instants => '1')")
        (done,) = called(db, f"run_clustering('t', instants => '{planned['timestamp']}')")
        assert done == planned | {"state": "COMPLETED"} == called(db, "show_clustering('t')")[0]
        assert db.sql("select id, price from t order by id").rows() == rows
        db.sql("insert into t values (5, 'a', 5, 1, 'x'); insert into t values (6, 'a', 5, 1, 'y')")
        part = shown["involved_partitions"].split(",")[0]
        (one,) = called(
            db,
            f"run_clustering('t', selected_partitions => '{part}', order_strategy => 'z-order', order => 'id,price')",
        )
        assert (one["input_group_size"], one["state"]) == (1, "COMPLETED")
        db.sql("insert overwrite t select * from t where id = 1")
        assert [row["timestamp"] for row in called(db, "show_clustering('t')")] == [one["timestamp"], done["timestamp"]]
        no = ((f"selected_partitions => '{names}'", "has no partition") for names in ("dt=none", f"{part},dt=none", ""))
        for wrong, said in (("op => 'stop'", "no op"), ("predicate => 'id = 1'", "takes no predicate"), *no):
            with pytest.raises(SqlError, match=said):
                called(db, f"run_clustering('t', {wrong})")


def test_what_was_begun_of_a_compaction_is_taken_back(tmp_path):
    with connect(tmp_path) as db:
        db.sql(CREATE.format(kind="mor"))
        db.sql("insert into t values (1, 'a', 1, 1, 'x'); update t set price = 5")
        (planned,) = called(
            db, "run_compaction('schedule', 't', options => 'hoodie.compact.inline.max.delta.commits=1')"
        )
        (done,) = called(db, f"run_rollback_inflight_tableservice('t', pending_instant => '{planned['timestamp']}')")
        assert done["instant"] == planned["timestamp"]
        assert called(db, "show_compaction('t')") == [planned]
        plan = f"'t', pending_instant => '{planned['timestamp']}'"
        (done,) = called(db, f"run_rollback_inflight_tableservice({plan}, delete_request_instant_file => true)")
        assert (done["instant"], called(db, "show_compaction('t')")) == (planned["timestamp"], [])
        with pytest.raises(SqlError, match="waits"):
            called(db, f"run_rollback_inflight_tableservice('t', pending_instant => '{times(db)[0]}')")


def test_files(db, kind):
    whole, latest = called(db, "show_fsview_all('t')"), called(db, "show_fsview_latest('t')")
    assert len(whole) == (5 if kind == "cow" else 2)
    assert [row["partition"] for row in latest] == ["dt=x", "dt=y"]
    assert called(db, "show_fsview_latest('t', partition_path => './dt=y/')") == latest[1:]
    assert called(db, "show_fsview_latest('t', path_regex => '*x/')") == latest[:1]
    first = times(db)[-1]
    then = called(db, f"show_fsview_latest('t', max_instant => '{first}', include_max => true)")
    assert {row["base_instant"] for row in then} == {first}
    with pytest.raises(SqlError, match="no commit before"):
        called(db, f"show_fsview_latest('t', max_instant => '{first}')")
    sizes = called(db, "stats_file_sizes('t')")
    assert [row["num_files"] for row in sizes] == [1, 1, 1, 2, 5]
    written = Path(whole[0]["data_file"])
    lost = written.with_name(f"00000000-1111-2222-3333-444444444444-0_9-99-999_{written.name.rpartition('_')[2]}")
    lost.touch()
    assert called(db, "stats_file_sizes('t')") == sizes  # without the file of a lost attempt
    lost.unlink()
    assert sizes[-2]["50th"] == (sizes[-2]["min"] + sizes[-2]["max"]) / 2
    path = db.session.catalog.path + "/t"
    (detail,) = called(db, f"show_fs_path_detail('{path}')")
    assert detail["storage_size"] == sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    assert called(db, f"show_invalid_parquet('{path}')") == []
    torn = Path(whole[0]["data_file"])
    torn.write_bytes(torn.read_bytes()[:100])
    assert called(db, f"show_invalid_parquet('{path}')") == [{"path": str(torn)}]


def test_logs(db, kind):
    if kind == "cow":
        with pytest.raises(SqlError, match="No log"):
            called(db, "show_logfile_metadata('t', log_file_path_pattern => '*')")
        return
    found = called(db, "show_logfile_metadata('t', log_file_path_pattern => 'dt=x/.*.log.*')")
    assert [(row["record_count"], row["block_type"]) for row in found] == [(1, "PARQUET_DATA_BLOCK")] * 2
    assert [row["instant_time"] for row in found] == sorted(times(db)[1:3])
    (deleted,) = called(db, "show_logfile_metadata('t', log_file_path_pattern => 'dt=y/*')")
    assert (deleted["record_count"], deleted["block_type"]) == (1, "DELETE_BLOCK")
    (row,) = called(db, "show_logfile_records('t', log_file_path_pattern => 'dt=x/*', limit => 1)")
    assert '"price": 5.0' in row["records"]


def test_partitions_properties_and_repairs(db):
    assert {"key": "hoodie.table.name", "value": "t"} in called(db, "show_table_properties('t', limit => 100)")
    assert len(called(db, "show_table_properties('t')")) == 10
    (Path(db.session.catalog.path) / "t" / "dt=x" / ".hoodie_partition_metadata").unlink()
    shown = [("dt=x", "No", "None"), ("dt=y", "Yes", "None")]
    assert db.sql("call repair_add_partition_meta('t')").rows() == shown
    assert db.sql("call repair_add_partition_meta('t', dry_run => false)").rows()[0] == ("dt=x", "No", "Repaired")
    assert db.sql("call repair_add_partition_meta('t')").rows()[0] == ("dt=x", "Yes", "None")
    assert called(db, "repair_corrupted_clean_files('t')") == [{"result": True}]
    assert called(db, "run_ttl('t', retain_days => 100)") == []
    assert called(db, "drop_partition('t', 'dt=y')") == [{"result": "Success"}]
    assert db.sql("select distinct dt from t").rows() == [("x",)]
    assert called(db, "truncate_table('t')")[0]["result"] == "SUCCESS"
    assert db.sql("select count(*) from t").rows() == [(0,)]


@pytest.mark.parametrize("procedure", ["drop_partition", "truncate_table"])
def test_partitions_that_are_not_there_are_refused(db, procedure):
    """No part of the list is dropped; an empty one names no partition, and never all of them."""
    before = db.sql("select * from t order by id").rows()
    for names in ("dt=nope", "dt=y,dt=nope", "dt=z*", "", " , "):
        with pytest.raises(
            HoodieError, match=r"has no partition dt=(nope|z\*).*show partitions|not a list of their paths"
        ):
            db.sql(f"call {procedure}('t', '{names}')")
        assert db.sql("select * from t order by id").rows() == before, names
    db.sql(f"call {procedure}('t', 'dt=y')")
    assert db.sql(f"call {procedure}('t', 'dt=y')").rows(), "its folder is there until a clean"


def test_two_tables_are_compared(db, tmp_path):
    db.sql("create table u using hudi tblproperties (primaryKey = 'id') as select id from t")
    (row,) = called(db, f"commits_compare('u', '{tmp_path}/t')")
    assert row["compare_detail"].startswith("Source u is ahead by 1 commits. Commits to catch up - [2")
    (row,) = called(db, f"commits_compare('t', '{tmp_path}/u')")
    assert row["compare_detail"].startswith("Source t is behind by 1 commits")


def test_bootstrap(tmp_path):
    source = tmp_path / "plain"
    source.mkdir()
    pq.write_table(pa.table({"id": ["a", "b"], "v": [1, 2]}), source / "1.parquet")
    with connect(tmp_path / "lake") as db:
        call = f"run_bootstrap('b', 'COPY_ON_WRITE', '{source}', '{tmp_path}/made', 'id')"
        assert called(db, call) == [{"status": 0}]
        assert db.sql("select * from b order by id").rows() == [("a", 1), ("b", 2)]
        (row,) = called(db, "show_bootstrap_mapping('b')")
        assert (row["source_base_path"].endswith("/plain"), row["source_file"]) == (True, "1.parquet")
        assert called(db, "show_bootstrap_partitions('b')") == [{"indexed_partitions": ""}]
        with pytest.raises(SqlError, match="no props_file_path"):
            called(db, call.replace("'id')", "'id', props_file_path => 'x')"))


WRONG_CALLS = [
    ("show_commmits('t')", "the closest one is show_commits"),
    ("zzz()", "There is no procedure zzz"),
    ("upgrade_table('t', '9')", "hudi-services table upgrade --to 9"),
    ("show_commits(tabl => 't')", "did you mean table"),
    ("show_commits()", "without its parameter table"),
    ("show_commits(null)", "without its parameter table"),
    ("show_timeline()", "without a table"),
    ("show_commits('t', 'x')", "give a literal of type int"),
    ("show_commits('t', limit => id)", "give a literal"),
    ("show_commits('t', 1, 2)", "is given 3 values"),
    ("show_commits('t', 1, limit => 2)", "given twice"),
    ("show_commits('a.b.t')", "three parts"),
    ("show_timeline('t', filter => 'no = 1')", "DuckDB cannot run"),
    ("show_timeline('t', filter => 'no = (')", "cannot be read"),
    ("run_clean('t', schedule_in_line => false)", "planned and executed at once"),
    ("run_clean('t', trigger_strategy => 'DAY')", "no trigger"),
    ("show_clean_plans('t', showArchived => true)", "archived"),
    ("show_logfile_records('t', '*', merge => true)", "merge"),
    ("show_invalid_parquet('t', needDelete => true)", "not deleted"),
    ("show_fsview_all('t', include_in_flight => true)", "leave include_in_flight out"),
    ("5", "Not a procedure"),
    ("show_commits(", "cannot be read"),
    ("help(cmd => 'none')", "no procedure"),
]


def test_wrong_calls(tmp_path):
    with connect(tmp_path) as db:
        db.sql(CREATE.format(kind="mor"))
        for call, says in WRONG_CALLS:
            with pytest.raises(SqlError, match=says):
                called(db, call)


def test_a_table_that_is_not_there(tmp_path):
    with connect(tmp_path) as db, pytest.raises(TableNotFoundError):
        called(db, "show_commits('t')")


def test_help(tmp_path):
    with connect(tmp_path) as db:
        for text in ("call help", "call help()", "CALL system.help"):
            assert "show_commits" in db.sql(text).rows()[0][0]
        assert "limit\tint\t10" in db.sql("call help(cmd => 'show_commits')").rows()[0][0]
        assert db.sql("call help(?)", ["show_commits"]).rows() == db.sql("call help('show_commits')").rows()


def test_every_procedure_has_an_end_to_its_sentence():
    assert not PROCEDURES.keys() & ABSENT.keys()
    assert all(each.does.endswith(".") and not each.differs.endswith(".") for each in PROCEDURES.values())


def test_an_error_of_the_library_comes_through(db):
    with pytest.raises(HoodieError, match=r"hoodie\.clean\.policy"):
        called(db, "run_clean('t', clean_policy => 'KEEP_NONE')")


def test_the_page_is_up_to_date():
    make = script("docs/make_procedures.py")
    assert make.PAGE.read_text() == make.page(), "run `make cli-docs`"
