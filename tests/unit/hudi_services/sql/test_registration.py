"""Tables that servers load are entered in the metastore that is their catalog, also after runs that could not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.sql import connect
from hoodie.sql.hive import HiveCatalog
from hudi_services.sql.registration import register_tables
from hudi_services.sql.server_catalog import LakeCatalog
from tests.support.metastore import MemoryMetastore


@pytest.fixture
def metastore(tmp_path):
    service = MemoryMetastore(tmp_path)
    yield service
    service.stop()


@pytest.fixture
def lake(metastore, tmp_path):
    catalog = HiveCatalog(metastore.uri, warehouse=str(tmp_path / "lake"))
    catalog.create_database("shop")
    yield LakeCatalog(catalog, str(tmp_path / "lake"))
    catalog.close()


def made(tmp_path, name, folder="lake/shop.db"):
    path = f"{tmp_path}/{folder}/{name}"
    with connect(tmp_path / "session") as db:
        db.sql(f"create table {name} using hudi tblproperties (primaryKey = 'id') location '{path}' as select 1 as id")
    return path


def messages(lake, *paths):
    return [outcome.message for outcome in register_tables(lake, paths)]


def test_tables_of_databases_of_the_metastore_are_entered(lake, metastore, tmp_path):
    paths = [made(tmp_path, "Orders"), made(tmp_path, "other", "elsewhere")]
    assert messages(lake, *paths, str(tmp_path / "lake/shop.db/not_there")) == []
    assert list(metastore.tables) == [("shop", "orders")]
    assert metastore.tables["shop", "orders"].sd.location == f"file:{paths[0]}"


def test_a_failure_is_made_good_by_the_next_run_without_a_commit(lake, metastore, tmp_path):
    paths = [made(tmp_path, name) for name in ("a", "b")]
    metastore.add("shop", "a", f"file:{tmp_path}/plain", inputFormat="org.apache.hadoop.mapred.TextInputFormat")
    [failure] = messages(lake, *paths)
    assert "Table shop.a is not registered" in failure
    assert ("shop", "b") in metastore.tables, "it leaves the others alone"
    del metastore.tables["shop", "a"]
    metastore.broken.add("create_table")
    [failure] = messages(lake, *paths)
    assert "the database is away" in failure
    metastore.broken.clear()
    assert messages(lake, *paths) == []
    assert sorted(metastore.tables) == [("shop", "a"), ("shop", "b")]


def test_tables_without_new_commits_are_asked_for_together(lake, metastore, tmp_path, monkeypatch):
    paths = [made(tmp_path, name) for name in ("a", "b", "c")]
    assert messages(lake, *paths) == []
    asked = []
    register = HiveCatalog.register
    monkeypatch.setattr(
        HiveCatalog, "register", lambda self, name, path: asked.append(name.name) or register(self, name, path)
    )
    assert messages(lake, *paths) == []
    assert asked == []
    HoodieTable.open(paths[0]).write(pa.table({"id": [2]}), "upsert")
    del metastore.tables["shop", "b"]
    metastore.tables["shop", "c"].sd.location = f"file:{tmp_path}/moved"
    [failure] = messages(lake, *paths)
    assert "Table shop.c is not registered" in failure
    assert asked == ["a", "b", "c"]
    assert sorted(metastore.tables) == [("shop", "a"), ("shop", "b"), ("shop", "c")]


def test_a_metastore_that_is_down_is_asked_once(lake, metastore, tmp_path):
    paths = [made(tmp_path, name) for name in ("a", "b")]
    metastore.broken |= {"get_table", "get_all_databases"}
    [failure] = messages(lake, *paths)
    assert "No table is registered" in failure
    assert metastore.uri in failure
    metastore.broken.remove("get_all_databases")
    assert len(messages(lake, *paths)) == 2
