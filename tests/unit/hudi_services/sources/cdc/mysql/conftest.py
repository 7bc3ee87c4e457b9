"""One server for all tests of this folder, in `make test-deep` also one of MySQL. Databases of their own keep tests apart."""

from __future__ import annotations

from typing import Any

import pytest

from hudi_services.sources.cdc.mysql import log_reader, tail
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets
from tests.support.mariadb import MariaDB
from tests.support.matrix import other_server
from tests.support.mysql_server import MySQL


@pytest.fixture(scope="session", params=["mariadb", pytest.param("mysql", marks=other_server)])
def server(request):
    server = MariaDB() if request.param == "mariadb" else MySQL()
    yield server
    server.stop()


@pytest.fixture(scope="session", autouse=True)
def charsets_once():
    """A server has the same 1,400 collations at each load. Reading them was an eighth of the time of these tests."""
    known: dict[int, dict[int, str]] = {}  # by the port of the server

    def kept(connection: Any) -> dict[int, str]:
        if connection.port not in known:
            known[connection.port] = collation_charsets(connection)
        return known[connection.port]

    with pytest.MonkeyPatch.context() as patch:
        for module in (log_reader, tail):
            patch.setattr(module, "collation_charsets", kept)
        yield
