"""A connection to a database of one table, copy-on-write and merge-on-read."""

from __future__ import annotations

import itertools
import shutil

import duckdb
import pytest

from hoodie.sql import connect, connection
from hoodie.sql.duck import DuckEngine
from tests.support.sql_tables import CREATE, ROWS

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def duck():
    """A DuckDB that all tests share."""
    with duckdb.connect() as database:
        yield database


@pytest.fixture(autouse=True)
def own_catalogs(monkeypatch, duck):
    """Each connection of a test gets a catalog of its own in one DuckDB: a new DuckDB takes longer than most tests. Connections
    that fixtures of modules make start one of their own, as a user's do."""
    names = []

    def engine(tasks=None):
        names.append(f"of_test_{next(_NUMBERS)}")
        database = duck.cursor()
        database.execute(f"ATTACH ':memory:' AS {names[-1]}")
        database.execute(f"USE {names[-1]}")
        return DuckEngine(database, tasks)

    monkeypatch.setattr(connection, "DuckEngine", engine)
    yield
    for name in names:
        duck.execute(f"DETACH {name}")


@pytest.fixture(scope="session")
def databases(tmp_path_factory):
    """The folder of a database that no test changes, by the type of its table."""
    made = {}
    for kind in ("cow", "mor"):
        made[kind] = tmp_path_factory.mktemp(kind)
        with connect(made[kind]) as connection:
            connection.sql(CREATE.format(kind=kind))
            connection.sql(ROWS)
    return made


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path, databases):
    shutil.copytree(databases[request.param], tmp_path, dirs_exist_ok=True)
    with connect(tmp_path) as connection:
        yield connection
