"""The demo of whole databases with a few small tables: all of it but the process of the statements."""

from __future__ import annotations

import re
import shutil

import pytest

from hudi_services.cli.program import main
from hudi_services.demo.database import run as demo
from hudi_services.demo.database import server as servers
from hudi_services.demo.database.comparison import compare
from hudi_services.demo.database.lines import SqlFile
from hudi_services.demo.database.sources import Sources


@pytest.fixture
def runs(monkeypatch):
    """Statements run in this process. Returns what each run of the file was before it."""
    done = []

    def run(file):
        done.append(file.path.read_text())
        monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", file.url)
        assert main(list(file.command[1:])) == 0
        return 1.0

    monkeypatch.setattr(SqlFile, "run", run)
    return done


def test_tables_follow_a_server_and_a_row_that_the_log_lacks_is_a_difference(tmp_path, runs, capsys, monkeypatch):
    found = []

    def checked(connection, sources, lake):
        found.append(compare(connection, sources, lake))
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_log_bin = 0")
            cursor.execute(f"UPDATE {sources.shards[1].full} SET c = 'another' LIMIT 1")
            cursor.execute(f"INSERT INTO {sources.alone[0].full} (k, c, pad) VALUES (1, '', '')")
            cursor.execute("SET SESSION sql_log_bin = 1")
        found.append(compare(connection, sources, lake))
        return found[0]

    monkeypatch.setattr(demo, "compare", checked)
    demo.run(tmp_path / "demo", 6, 40, cuts=1)
    shown = capsys.readouterr().out
    assert len(runs) == 4
    assert len(runs[0].splitlines()) == 9
    assert "All tables were equal 1 times" in shown
    assert f"end: comparison: equal, {found[0].rows:,} rows of 6 tables" in shown
    assert found[0].rows >= 6 * 40
    assert re.search("tables that got a column: [1-6]", shown)
    alone, merged = found[1].differences
    assert "sbtest1: it has" in alone
    assert merged.endswith("ctas_demo: values of c are others")


def test_a_difference_ends_the_demo_and_its_server(tmp_path, runs, monkeypatch):
    started = []

    class Watched(servers.DemoServer):
        def __init__(self, folder):
            super().__init__(folder)
            started.append(self)

    different = demo.Comparison(2, 20, ("sbtest1: values of k are others",))
    monkeypatch.setattr(demo, "DemoServer", Watched)
    monkeypatch.setattr(demo, "compare", lambda *_: different)
    monkeypatch.setattr(SqlFile, "run", lambda _: 0.0)
    with pytest.raises(demo.DifferenceError, match=r"(?s)1 Hudi table differs from the server at the end.*values of k"):
        demo.run(tmp_path / "demo", 2, 10, cuts=1)
    assert started[0]._process.poll() is not None


def test_a_missing_server_is_refused_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(servers.ServerError, match=r"(?s)no program mariadbd.*apt-get install mariadb-server"):
        demo.run(tmp_path / "demo", 2, 10)


def test_one_table_of_eleven_is_alone():
    assert [(len(s.alone), len(s.shards)) for s in map(Sources.of, (2, 60, 1100))] == [(1, 1), (5, 55), (100, 1000)]
