"""The nine lines of SQL that load both databases, and the command that runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hoodie.errors import HoodieError
from hudi_services.demo.database.sources import DATABASE, SHARDED
from hudi_services.runtime.folders import PROJECT

_LINES = """\
CREATE CATALOG shop WITH ('type'='mysql', 'connection'='shop_db', 'server-id'='5401', 'tls'='off');
CREATE CATALOG lake WITH ('type'='hudi', 'warehouse'='{lake}');
CREATE DATABASE IF NOT EXISTS lake.cdas_demo
WITH ('type'='MERGE_ON_READ')
AS DATABASE shop.{database}
INCLUDING ALL TABLES;
CREATE TABLE IF NOT EXISTS lake.db1.ctas_demo
WITH ('type'='MERGE_ON_READ')
AS TABLE shop.`{sharded}`.`sbtest[0-9]+`;
"""


class LoadError(HoodieError):
    """The statements did not bring all tables to the end of the log."""


@dataclass(frozen=True)
class SqlFile:
    """The file of the lines in `home`, for the server at `url`."""

    home: Path
    url: str

    @property
    def lake(self) -> Path:
        return self.home / "lake"

    @property
    def path(self) -> Path:
        return self.home / "lake.sql"

    @property
    def command(self) -> tuple[str, ...]:
        """The command of `run`, as a user writes it."""
        return ("hudi-services", "sql", "--warehouse", str(self.lake), "-f", str(self.path))

    def write(self) -> str:
        """Write the file. Returns its text."""
        text = _LINES.format(lake=str(self.lake).replace("'", "''"), database=DATABASE, sharded=SHARDED)
        self.lake.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text)
        return text

    def run(self) -> float:
        """Run the statements in a process of their own. Returns the seconds. Raises LoadError when a table is behind."""
        environment = {name: value for name, value in os.environ.items() if name != "HUDI_REGISTRY"}
        environment["AIRFLOW_CONN_SHOP_DB"] = self.url
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(PROJECT / "plugins"), str(PROJECT), os.environ.get("PYTHONPATH", "")]
        )
        start = time.monotonic()
        result = subprocess.run(
            [sys.executable, "-m", "hudi_services", *self.command[1:]], capture_output=True, text=True, env=environment
        )
        seconds = time.monotonic() - start
        if result.returncode != 0:
            raise LoadError(
                f"The statements ended with exit code {result.returncode}",
                found=(result.stdout + result.stderr)[-3000:],
                fix=f"this is a bug: please report it with the files in {self.home}",
            )
        return seconds
