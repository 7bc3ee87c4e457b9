"""One server for all tests of this folder, in `make test-deep` also one of MySQL. Databases of their own keep tests apart."""

from __future__ import annotations

import pytest

from tests.support.mariadb import MariaDB
from tests.support.matrix import other_server
from tests.support.mysql_server import MySQL


@pytest.fixture(scope="session", params=["mariadb", pytest.param("mysql", marks=other_server)])
def server(request):
    server = MariaDB() if request.param == "mariadb" else MySQL()
    yield server
    server.stop()
