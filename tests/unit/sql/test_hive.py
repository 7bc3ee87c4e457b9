"""A Hive metastore as the catalog of SQL; a metastore in this process answers. Real ones: tests/interop/test_hive_catalog.py."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, inspect, text

import hoodie.sqlalchemy  # noqa: F401 - makes its dialect known
from hoodie import SYNC, HoodieTable, dbapi
from hoodie.errors import CatalogError, SqlError, TableExistsError, TableNotFoundError
from hoodie.sql import TableName, connect
from hudi_services.cli.program import main
from hudi_services.runtime.result import DONE, SERVICE_FAILED
from tests.support.cli import USAGE
from tests.support.metastore import MemoryMetastore

CREATE = "create table {name} (id string, value bigint) using hudi tblproperties (primaryKey = 'id', type = '{kind}')"


@pytest.fixture
def metastore(tmp_path):
    service = MemoryMetastore(tmp_path)
    yield service
    service.stop()


@pytest.fixture
def db(metastore):
    with connect(metastore.uri) as connection:
        connection.sql(CREATE.format(name="t", kind="cow"))
        connection.sql("insert into t values ('a', 1)")
        yield connection


def names(db):
    return [name for _, name, _ in db.sql("show tables").rows()]


def test_a_table_is_found_where_the_metastore_has_it(db, metastore, tmp_path):
    assert (tmp_path / "warehouse/t/.hoodie").is_dir()
    assert metastore.tables["default", "t"].sd.location == f"file:{tmp_path}/warehouse/t"
    assert db.sql("select id, value from T").rows() == [("a", 1)]
    db.sql("insert into t select concat(id, 'b'), value + 1 from t; update t set value = 9 where id = 'a'")
    assert db.sql("select id, value from default.t order by id").rows() == [("a", 9), ("ab", 2)]


def test_programs_come_by_the_address(db, metastore):
    with dbapi.connect(metastore.uri, database="default") as connection, connection.cursor() as cursor:
        cursor.execute("select id from t where value = ?", [1])
        assert cursor.fetchall() == [("a",)]
    engine = create_engine(f"hoodie:///{metastore.uri}?database=default")
    with engine.connect() as connection:
        assert connection.execute(text("select value from t")).all() == [(1,)]
    assert inspect(engine).get_table_names() == ["t"]
    assert [column["name"] for column in inspect(engine).get_columns("t")] == ["id", "value"]


def test_what_is_no_hudi_table_is_told_by_its_name(db, metastore, tmp_path):
    metastore.add("default", "plain", f"file:{tmp_path}/plain", inputFormat="org.apache.hadoop.mapred.TextInputFormat")
    metastore.add("default", "seen", kind="VIRTUAL_VIEW")
    for name, found in (("plain", "TextInputFormat"), ("seen", "a view")):
        for query in (
            f"select * from {name}",
            f"select * from default.{name}",
            f"select * from t join default.{name} using (id)",
            f"insert into {name} values (1)",
            f"update default.{name} set id = 'b'",
            f"drop table {name}",
            f"drop table if exists {name}",
            f"describe {name}",
            f"call show_commits(table => '{name}')",
            f"select * from hudi_query_timeline('{name}')",
        ):
            with pytest.raises((SqlError, TableNotFoundError), match=rf"default.{name} .*is not a Hudi table.*{found}"):
                db.sql(query)
        with pytest.raises(SqlError, match="not a Hudi table"):
            db.sql(f"alter table t rename to {name}")
    assert names(db) == ["t"]
    assert sorted(name for _, name in metastore.tables) == ["plain", "seen", "t"]


def test_a_renamed_table_is_the_same_one(db, metastore):
    metastore.tables["default", "t"].parameters |= {"theirs": "kept", "last_commit_time_sync": "1"}
    metastore.tables["default", "t"].tableType = "MANAGED_TABLE"
    db.sql("alter table t rename to u")
    assert names(db) == ["u"]
    renamed = metastore.tables["default", "u"]
    assert renamed.parameters["theirs"] == "kept"
    assert renamed.parameters["last_commit_time_sync"] == "1"
    assert renamed.tableType == "MANAGED_TABLE"
    assert db.sql("select id from u").rows() == [("a",)]


@pytest.mark.parametrize(
    "name",
    ["`a/b`", "`../t`", "`t;drop`", "`t'`", "`%`", "`*`", "`T `", "``", "`é`", "`@hive#default`.t", "`a.b`.t", "`.`"],
)
def test_hostile_names_lead_nowhere(db, metastore, name):
    before = set(metastore.tables)
    for statement in (
        f"select * from {name}",
        f"drop table {name}",
        f"delete from {name}",
        CREATE.format(name=name, kind="cow"),
    ):
        with pytest.raises((SqlError, TableNotFoundError)):
            db.sql(statement)
    assert set(metastore.tables) == before


def test_a_metastore_that_is_started_again_is_found_again(db, metastore):
    metastore.hang_up()
    assert db.sql("select id from t").rows() == [("a",)]


def test_a_metastore_that_fails_is_told(db, metastore):
    metastore.broken.add("get_table")
    with pytest.raises(CatalogError, match=r"failed on a request for table default.t(.|\n)*the database is away"):
        db.sql("select id from t")


def test_a_metastore_that_knows_no_such_call_is_told(db, metastore, monkeypatch):
    monkeypatch.setattr("tests.support.metastore._Handler.get_all_databases", None)
    with pytest.raises(CatalogError, match="failed on a request"):
        db.sql("show databases")


def test_a_closed_connection_leaves_none_at_the_metastore(db, metastore):
    db.sql("select 1 from t")
    assert metastore.has_connections(1)
    db.close()
    assert metastore.has_connections(0)
    assert db.session.catalog.databases() == ["default"], "it is opened again"


def test_a_table_that_the_metastore_does_not_take_is_there_and_can_be_entered(db, metastore, tmp_path):
    metastore.broken.add("create_table")
    with pytest.raises(CatalogError, match=r"create_table: the database is away.*USING hudi LOCATION"):
        db.sql(CREATE.format(name="u", kind="cow"))
    metastore.broken.clear()
    db.sql(f"create table u using hudi location '{tmp_path}/warehouse/u'")
    assert names(db) == ["t", "u"]


def test_a_name_that_is_taken(db, metastore):
    with pytest.raises(TableExistsError):
        db.sql(CREATE.format(name="t", kind="cow"))
    assert "is there" in db.sql(CREATE.format(name="if not exists t", kind="cow")).message
    db.sql(CREATE.format(name="u", kind="cow"))
    with pytest.raises(TableExistsError):
        db.sql("alter table t rename to u")
    assert names(db) == ["t", "u"]


def test_what_the_catalog_asks_of_writes_is_told_by_no_statement(db, metastore):
    db.sql("alter table t set tblproperties ('hoodie.parquet.max.file.size' = '1000000')")
    (told,) = db.sql("show create table t").rows()[0]
    assert "hoodie.parquet.max.file.size" in told
    assert "hive_sync" not in told
    assert "last_commit_time_sync" in metastore.tables["default", "t"].parameters


def test_a_table_may_say_that_its_writes_are_not_synced(db, metastore):
    off = "'hoodie.datasource.hive_sync.enable' = 'false'"
    db.sql(f"alter table t set tblproperties ({off})")
    before = metastore.tables["default", "t"].parameters["last_commit_time_sync"]
    db.sql("insert into t values ('b', 2)")
    assert metastore.tables["default", "t"].parameters["last_commit_time_sync"] == before
    assert off in db.sql("show create table t").rows()[0][0]


@pytest.mark.parametrize("plain", ["absent", "another"])
def test_a_pair_is_synced_as_it_is(db, metastore, tmp_path, plain):
    db.sql(CREATE.format(name="m", kind="mor"))
    db.sql("insert into m values ('a', 1)")
    options = {"mode": "hms", "metastore.uris": metastore.uri}
    pair = {f"hoodie.datasource.hive_sync.{key}": value for key, value in options.items()}
    table = HoodieTable.open(tmp_path / "warehouse/m")
    metastore.tables.pop(("default", "m"))
    table.run(SYNC, {**pair, "hoodie.meta.sync.sync_snapshot_with_table_name": "false"})
    if plain == "another":
        metastore.add("default", "m", f"file:{tmp_path}/else", inputFormat="org.apache.hadoop.mapred.TextInputFormat")
    there = set(metastore.tables)
    before = metastore.tables["default", "m_ro"].parameters["last_commit_time_sync"]
    db.sql("insert into m_rt values ('b', 2)")
    assert set(metastore.tables) == there
    assert metastore.tables["default", "m_ro"].parameters["last_commit_time_sync"] > before
    assert db.sql("select count(*) from m_rt").rows() == [(2,)]


def test_a_sync_that_fails_after_a_commit_is_told(db, metastore, capsys):
    metastore.broken.add("alter_table")
    statement = "insert into t values ('b', 2)"
    result = db.sql(statement)
    assert "1 inserted" in result.message
    assert "sync after it FAILED" in result.message
    assert "the database is away" in result.message
    assert main(["sql", "--metastore", metastore.uri, "-e", "truncate table t; select 1"]) == SERVICE_FAILED
    assert "sync after it FAILED" in capsys.readouterr().err
    assert db.sql("select * from t").rows() == []
    metastore.broken.clear()
    assert main(["sql", "--metastore", metastore.uri, "-e", statement]) == DONE


def test_one_catalog_is_named(metastore, tmp_path, capsys):
    assert main(["sql", "--metastore", metastore.uri, "--warehouse", str(tmp_path), "-e", "select 1"]) == USAGE
    assert "contradicts" in capsys.readouterr().err
    assert main(["sql", "--metastore", "/data/lake", "-e", "show tables"]) == USAGE
    assert "names no metastore" in capsys.readouterr().err


SEEN = "create table s (id string, seen timestamp{more}) using hudi tblproperties (primaryKey = 'id'{options}) location '{place}'"


@pytest.mark.parametrize(
    "options",
    [
        {"support_timestamp": "true"},
        {"support_timestamp": "false"},
        {"omit_metadata_fields": "true", "support_timestamp": "true"},
        {"sync_as_datasource": "false"},
    ],
)
def test_a_table_that_a_sync_has_entered_stays_as_it_is(metastore, tmp_path, options):
    with connect(tmp_path / "w") as db:
        db.sql(SEEN.format(more="", options="", place=tmp_path / "s"))
        db.sql("insert into s values ('a', timestamp '2026-01-01 00:00:00')")
    given = {"mode": "hms", "metastore.uris": metastore.uri, "table": "s", **options}
    HoodieTable.open(tmp_path / "s").run(
        SYNC, {f"hoodie.datasource.hive_sync.{key}": value for key, value in given.items()}
    )
    before = metastore.tables["default", "s"]
    with connect(metastore.uri) as db:
        assert "FAILED" not in db.sql("insert into s values ('b', timestamp '2026-01-02 00:00:00')").message
        assert db.sql("select count(*) from s").rows() == [(2,)]
    after = metastore.tables["default", "s"]
    assert [(each.name, each.type) for each in after.sd.cols] == [(each.name, each.type) for each in before.sd.cols]
    assert ("spark.sql.sources.provider" in after.parameters) == ("spark.sql.sources.provider" in before.parameters)
    assert after.parameters["last_commit_time_sync"] > before.parameters["last_commit_time_sync"]


def test_a_new_table_is_entered_as_its_options_say(metastore, tmp_path):
    with connect(metastore.uri, options={"hoodie.datasource.hive_sync.username": "ada"}) as db:
        options = "".join(
            f", 'hoodie.datasource.hive_sync.{key}' = '{value}'"
            for key, value in {"support_timestamp": "true", "enable": "false"}.items()
        )
        db.sql(SEEN.format(more=", n int", options=options, place=tmp_path / "s"))
    made = metastore.tables["default", "s"]
    assert {each.name: each.type for each in made.sd.cols}["seen"] == "timestamp"
    assert made.owner == "ada"


def test_quoted_names_of_others_are_found(db, metastore, tmp_path):
    metastore.tables["default", "a-b"] = metastore.tables["default", "t"]
    assert db.sql("select id from `a-b`").rows() == [("a",)]
    db.sql("drop table `A-B`")
    assert names(db) == ["t"]


def test_a_database_that_is_not_there(db, metastore):
    for statement in (
        "select * from nowhere.t",
        "drop table nowhere.t",
        "update nowhere.t set id = 'b'",
        "describe database nowhere",
        "show tables in nowhere",
        "use nowhere",
        CREATE.format(name="nowhere.t", kind="cow"),
    ):
        with pytest.raises((SqlError, TableNotFoundError), match="nowhere"):
            db.sql(statement)
    assert db.sql("drop database if exists nowhere cascade").rows() == []
    assert set(metastore.tables) == {("default", "t")}


def test_a_table_that_goes_while_it_is_changed(db, metastore):
    entry = db.session.catalog.find(TableName("default", "t"))
    metastore.tables.clear()
    for change in (lambda: db.session.catalog.change(entry), lambda: db.session.catalog.rename(entry, entry.name)):
        with pytest.raises(SqlError, match="has gone in the meantime"):
            change()
    db.session.catalog.drop(entry)


def test_new_columns_come_with_the_statement(db, metastore):
    db.sql("alter table t add columns (more string)")
    assert [each.name for each in metastore.tables["default", "t"].sd.cols][-1] == "more"


def test_several_metastores_in_an_address(db, metastore):
    engine = create_engine(f"hoodie:///thrift://127.0.0.1:1,{metastore.uri}")
    assert inspect(engine).get_table_names() == ["t"]


def test_a_table_that_was_dropped_is_entered_again(db, metastore, tmp_path):
    db.sql("drop table t")
    with pytest.raises(TableExistsError) as refused:
        db.sql(CREATE.format(name="t", kind="cow"))
    statement = f"CREATE TABLE default.t USING hudi LOCATION '{tmp_path}/warehouse/t'"
    assert statement in refused.value.fix
    db.sql(statement)
    assert db.sql("select id from t").rows() == [("a",)]
