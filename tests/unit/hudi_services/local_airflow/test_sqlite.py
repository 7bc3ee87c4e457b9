"""Two processes on Airflow's SQLite, with the settings that every part of the embedded Airflow has."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hudi_services.local_airflow.home import AirflowHome

pytestmark = pytest.mark.process

# As Airflow opens its database (settings.configure_orm), without migrating 200 tables for it.
OPEN = """
import sys, time
from airflow import settings
from sqlalchemy import text
engine = settings.engine
def say(word): print(word, flush=True)
def hear(word): assert sys.stdin.readline().strip() == word
"""
# Airflow's statements for a backfill: a savepoint, in it a look, then rows.
BACKFILL = """
with settings.Session() as session:
    with session.begin_nested():
        session.execute(text("select count(*) from runs")).scalar()
        say("looked")
        hear("go on")
        session.execute(text("insert into runs values ('backfill')"))
    session.commit()
say("backfilled")
"""
LONG = """
say("ready")
hear("go")
with engine.begin() as connection:
    connection.execute(text("insert into runs values ('long')"))
    say("writing")
    time.sleep(1)
say(connection.engine.raw_connection().execute("pragma busy_timeout").fetchone()[0])
"""


class Program:
    def __init__(self, home: AirflowHome, code: str) -> None:
        environment = home.environment()
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPEN + code], env=environment, stdin=-1, stdout=-1, stderr=-1, text=True
        )

    def hear(self, word: str) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line == word, f"{line!r}: {self.process.communicate()[1][-1500:]}"

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def end(self) -> None:
        assert self.process.wait(120) == 0, self.process.communicate()[1][-1500:]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> AirflowHome:
    folder = tmp_path_factory.mktemp("sqlite") / "with a space"
    made = AirflowHome(folder, Path(folder / "tables.yaml"))
    made.make()
    return made


def test_a_backfill_and_a_long_write_wait_for_each_other(home: AirflowHome) -> None:
    with contextlib.closing(sqlite3.connect(home.folder / "airflow.db")) as database:
        database.execute("create table runs (id text)")
    backfill, long = Program(home, f"{BACKFILL}hear('again')\n{BACKFILL}"), Program(home, LONG)
    backfill.hear("looked")
    long.hear("ready")
    long.say("go")
    time.sleep(0.3)  # it would write now, and what the other has read would be old
    backfill.say("go on")
    backfill.hear("backfilled")
    long.hear("writing")
    backfill.say("again")
    backfill.say("go on")
    long.hear("30000")
    backfill.hear("looked")
    backfill.hear("backfilled")
    for each in (backfill, long):
        each.end()
    with contextlib.closing(sqlite3.connect(home.folder / "airflow.db")) as database:
        assert sorted(database.execute("select id from runs")) == [("backfill",), ("backfill",), ("long",)]
        assert database.execute("pragma journal_mode").fetchone() == ("wal",)
