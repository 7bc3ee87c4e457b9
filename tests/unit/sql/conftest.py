"""A connection to a database of one table, copy-on-write and merge-on-read."""

from __future__ import annotations

import pytest

from hoodie.sql import connect
from tests.support.sql_tables import CREATE, ROWS


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(CREATE.format(kind=request.param))
        connection.sql(ROWS)
        yield connection
