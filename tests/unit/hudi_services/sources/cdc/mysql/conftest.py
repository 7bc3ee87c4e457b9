"""One MariaDB server for all tests of this folder. Databases of their own keep tests apart."""

from __future__ import annotations

import pytest

from tests.support.mariadb import MariaDB


@pytest.fixture(scope="session")
def server():
    server = MariaDB()
    yield server
    server.stop()
