"""Tables whose loads fail, two of them on Spark: their entries in the registry, and what is delivered to them."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_services.cli.program import main
from hudi_services.demo.home import DemoHome

ENGINES: dict[str, dict[str, str]] = {"on_spark": {"engine": "spark"}, "damaged": {"engine": "spark"}, "small": {}}


def entries() -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "base_path": f"${{HUDI_LAKE}}/{name}",
            "keys": {"record_key": "id"},
            "source": {"path": f"${{HUDI_LANDING}}/{name}", "format": "parquet"},
            **engine,
        }
        for name, engine in ENGINES.items()
    ]


def deliver(home: DemoHome, table: str, file: str, rows: pa.Table) -> Path:
    path = home.landing / table / file
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return path


def deliver_to_spark(home: DemoHome) -> None:
    """A file that is no Parquet file, and one whose column has another type than the table's."""
    deliver(home, "damaged", "1.parquet", pa.table({"id": ["a"]}))
    (home.landing / "damaged" / "2.parquet").write_bytes(b"PAR1 no Parquet file PAR1")
    deliver(home, "on_spark", "1.parquet", pa.table({"id": ["a"], "n": [1]}))
    with patch.dict(os.environ, home.variables()):
        load = ["ingest", "--registry", str(home.registry), "--table", "on_spark", "--engine", "local"]
        assert main(load) == 0
    deliver(home, "on_spark", "2.parquet", pa.table({"id": ["b"], "n": ["many"]}))
