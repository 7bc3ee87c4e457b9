"""A connection to a database of one table, copy-on-write and merge-on-read."""

from __future__ import annotations

import shutil

import pytest

from hoodie.sql import connect
from tests.support.sql_tables import CREATE, ROWS


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
