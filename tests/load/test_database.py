"""Random changes of a server, while the processes that load it, the server and connections are killed: the lake equals it.

`SECONDS=1800 python -m pytest -s tests/load/test_database.py` runs for half an hour. `HUNT_SEED` draws other changes and kills.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from threading import Event

import pymysql
import pytest
import yaml

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.registry.database_tables import cut_store
from hudi_services.registry.load import load_registry, read_registry
from tests.load.actors import Log, lines
from tests.load.database_changes import DATABASE, TABLES, Changes, Session
from tests.load.database_sync import follow, synced
from tests.support.examples import HUNT_SEED
from tests.support.mariadb import MariaDB
from tests.support.matrix import DEEP

SECONDS = float(os.environ.get("SECONDS") or (15 if DEEP else 10))
STOP_SECONDS = 60.0  # between two comparisons of all rows
DURABLE = {"innodb-flush-log-at-trx-commit": "1", "sync-binlog": "1"}
SHORT = {
    "clean": {"hoodie": {"hoodie.clean.commits.retained": "3"}},
    "archive": {"hoodie": {"hoodie.keep.min.commits": "5", "hoodie.keep.max.commits": "8"}},
}
CLEANED = {"hoodie.clean.automatic": "true", "hoodie.archive.automatic": "true"}
COMPACTED = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
APPLY = {"truncate": "apply", "drop": "apply", "rename": "apply", "alter": "apply"}
PASSING = {"SourceUnavailableError", "PendingInstantError"}
"""Errors of a run whose server, connection or rival went away."""


class Soak:
    """A server whose database changes, and a process that loads it. `dice` decides what is killed next."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.dice = folder, random.Random(seed)
        self.server = MariaDB(DURABLE)
        self.server.run(f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}", *TABLES)
        self.lake, self.logs, self.registry = folder / "lake", folder / "logs", str(folder / "tables.yaml")
        self.logs.mkdir()
        Path(self.registry).write_text(yaml.safe_dump(self.registered()))
        load_registry(self.registry)
        self.said = Log(self.logs / "conductor")
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["hoodie.table", "pyarrow.parquet", "tests.load.database_sync"])
        self.processes = []
        self.started = self.stops = self.rows = 0
        self.kills = Counter()

    def registered(self):
        def entry(name, **options):
            return {"name": name, "base_path": f"{self.lake}/{name}", **options}

        def source(name, **options):
            return {"server": "shop", "table": f"{DATABASE}.{name}", **options}

        merge = {"type": "MERGE_ON_READ"}
        rule = {"server": "shop", "database": DATABASE, "statements": APPLY}
        keys = {"record_key": ["region", "id"], "partition_by": ["region"]}
        return {
            "servers": {
                "shop": {
                    "type": "mysql",
                    "connection": "shop",
                    "tls": "off",
                    "server_id": 5401,
                    "state": f"{self.folder}/state",
                }
            },
            "tables": [
                entry("left_accounts", source=source("left_accounts")),
                entry("right_accounts", source=source("right_accounts"), **merge),
                entry(
                    "orders",
                    source=source("orders"),
                    keys=keys,
                    ingest={"hoodie": {**CLEANED, **COMPACTED}},
                    **SHORT,
                    **merge,
                ),
                entry("items", source=source("items", statements=APPLY), ingest={"hoodie": CLEANED}, **SHORT),
            ],
            "databases": [
                {**rule, "tables": "shard_.*", "base_path": f"{self.lake}/shards", "merge": True, **merge},
                {**rule, "tables": "late_.*", "base_path": f"{self.lake}/{{table}}"},
            ],
        }

    def start(self) -> None:
        """Start a process that loads."""
        self.started += 1
        arguments = (self.registry, self.server.url, self.logs / f"{self.started:05}", self.started)
        self.processes.append(self.context.Process(target=follow, args=arguments, daemon=True))
        self.processes[-1].start()

    def kill(self) -> None:
        """Kill all processes that load."""
        for process in self.processes:
            assert process.exitcode is None, f"a process that loads ended by itself: {process.exitcode}"
            process.kill()
            process.join()
        self.processes.clear()

    def restart_server(self) -> None:
        """Kill the server, and start it again at once or after a moment."""
        self.server.kill()
        time.sleep(self.dice.choice([0.0, 0.5]))
        self.server.start()

    def disturb(self) -> None:
        """Kill something. The test starts it again where it is needed."""
        kind = self.dice.choice(["reader", "reader", "connection", "connection", "server", "rival", "pause"])
        self.said.say(did="kill", kind=kind)
        self.kills[kind] += 1
        if kind == "reader":
            self.kill()
            self.start()
        elif kind == "connection":
            self.end_connection()
        elif kind == "server":
            self.restart_server()
        elif kind == "rival":
            self.start()
            time.sleep(self.dice.uniform(0.5, 4))
            rival = self.processes.pop(self.dice.randrange(len(self.processes)))
            rival.kill()
            rival.join()
        else:
            self.pause()

    def pause(self) -> None:
        """Stop the process for a while in which another one runs, as a machine does that hangs. Then it goes on."""
        stopped = self.processes[0]
        os.kill(stopped.pid, signal.SIGSTOP)
        self.start()
        time.sleep(self.dice.uniform(1, 6))
        os.kill(stopped.pid, signal.SIGCONT)
        time.sleep(self.dice.uniform(0.5, 2))
        self.processes.remove(stopped)
        stopped.kill()
        stopped.join()

    def end_connection(self) -> None:
        connection = self.server.connection()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'lake'")
                found = [row[0] for row in cursor.fetchall()]
                if found:
                    cursor.execute(f"KILL {self.dice.choice(found)}")
        except pymysql.err.MySQLError as error:
            if error.args[0] != 1094:  # it is gone
                raise
        finally:
            connection.close()

    def run(self, seconds: float) -> None:
        """Change, load and kill for this time. All rows are compared at stops, and at the end."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            self.round(min(end - now, STOP_SECONDS))

    def round(self, seconds: float) -> None:
        stop, strange = Event(), []
        draws = [random.Random(self.dice.random()) for _ in range(2)]
        threads = [Changes(Session(self.server), draw, stop, strange).start() for draw in draws]
        self.start()
        end = time.monotonic() + seconds
        try:
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(left, self.dice.uniform(0.1, self.dice.choice([3, 20]))))
                self.disturb()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.kill()
        assert not strange, strange
        self.compare()

    def compare(self) -> None:
        """Load what is left, then compare all rows."""
        self.stops += 1
        self.server.run(f"USE {DATABASE}", "DROP TABLE IF EXISTS ghost, old")
        position = self.finish()
        self.rows += sum(self.compare_table(name) for name in sorted(table for (table,) in self.tables()))
        self.check_balances()
        if self.dice.random() < 0.5:
            file = position.partition(":")[0]
            self.server.run("FLUSH BINARY LOGS", f"PURGE BINARY LOGS TO '{file}'")

    def finish(self) -> str:
        """Load what is left. Return the place of the log at the end."""
        said = Log(self.logs / f"stop-{self.stops:04}")
        for _ in range(3):  # errors that pass may be left from before
            result = synced(self.registry, self.server.url, said)
            if result is not None and {table.state for table in result.tables.values()} == {"current"}:
                return result.position
        last = [*lines(self.logs)][-1]
        raise AssertionError(f"the tables do not get to the end of the log: {last.get('trace', last)}")

    def tables(self):
        return self.query("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")[1]

    def query(self, statement: str):
        """Names of columns and rows."""
        connection = self.server.connection(DATABASE)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET time_zone = '+00:00'")
                cursor.execute(statement)
                return [column[0] for column in cursor.description], cursor.fetchall()
        finally:
            connection.close()

    def compare_table(self, name: str) -> int:
        names, expected = self.query(f"SELECT * FROM {name}")
        path, of_shard = (name, None) if not name.startswith("shard_") else ("shards", name)
        rows = HoodieTable.open(f"{self.lake}/{path}", engine=LocalEngine(1)).read()
        found = [
            tuple(plain(row.get(column)) for column in names)
            for row in rows.to_pylist()
            if of_shard in (None, row.get("_source_table"))
        ]
        missing, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        assert not missing, f"{name} lacks {len(missing)} rows: {list(missing)[:3]}, has instead {list(more)[:3]}"
        assert not more, f"{name} has {len(more)} rows more: {list(more)[:3]}"
        return len(expected)

    def check_balances(self) -> None:
        """Both tables of accounts are of one moment at each cut."""
        for cut in list(cut_store("shop", read_registry(self.registry)).newest_first())[:15]:
            places = [cut.tables.get(f"{DATABASE}.{side}_accounts") for side in ("left", "right")]
            if None in places:
                continue
            sums = []
            for place in places:
                table = HoodieTable.open(place.base_path, engine=LocalEngine(1))
                sums.append(sum(table.read(as_of=place.instant)["balance"].to_pylist()))
            assert sum(sums) == 0, f"cut {cut.number} has balances of two moments: {sums}"

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()
        self.server.stop()


def plain(value):
    """A value of the lake as the driver gives it: times without their zone."""
    if hasattr(value, "tzinfo") and value.tzinfo is not None:
        return (value - (value.utcoffset() or timedelta())).replace(tzinfo=None)
    return value


@pytest.fixture
def soak(tmp_path):
    soak = Soak(tmp_path, HUNT_SEED)
    yield soak
    soak.close()


def test_the_lake_equals_the_server_whatever_is_killed(soak):
    print(f"\nseed {HUNT_SEED}", flush=True)
    soak.run(SECONDS)
    said = [*lines(soak.logs)]
    did = Counter(line["did"] for line in said)
    errors = Counter(line["error"] for line in said if "error" in line)
    print(
        f"{SECONDS:.0f} s, {soak.stops} stops with {soak.rows} rows compared, kills: {dict(soak.kills)}; {dict(did)}; "
        f"{sum(line.get('commits', 0) for line in said)} commits; errors: {dict(errors)}"
    )
    strange = [line["trace"] for line in said if "error" in line and line["error"] not in PASSING]
    assert not strange, "\n\n".join(strange)
    parked = [line["behind"] for line in said for state, *_ in line.get("behind", {}).values() if state == "parked"]
    assert not parked, parked
