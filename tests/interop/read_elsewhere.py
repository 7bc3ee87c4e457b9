"""Runs in the readers' own environment: reads tables with one engine, and prints a JSON object, name -> rows, or the error.

Arguments: the engine, then `name=place` of each table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

COLUMNS = ("id", "Price", "part", "at")
Rows = list[dict[str, Any]]


def daft() -> Callable[[str], Rows]:
    import daft

    return lambda place: daft.read_hudi(place).select(*COLUMNS).to_pylist()


def ray() -> Callable[[str], Rows]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    return lambda place: ray.data.read_hudi(place).take_all()


def clickhouse() -> Callable[[str], Rows]:
    """A place is a URL, a key and its secret, with spaces between: the table function takes no path."""
    import chdb

    def read(place: str) -> Rows:
        arguments = ", ".join(f"'{each}'" for each in place.split())
        found = str(chdb.query(f"SELECT {', '.join(COLUMNS)} FROM hudi({arguments})", "JSONEachRow"))
        return [json.loads(line) for line in found.splitlines()]

    return read


def _values(row: dict[str, Any]) -> list[Any]:
    return [row["id"], row["Price"], row["part"], str(row["at"])[:19]]


def main(engine: str, *tables: str) -> None:
    read = {"daft": daft, "ray": ray, "clickhouse": clickhouse}[engine]()
    answers: dict[str, Any] = {}
    for name, _, place in (table.partition("=") for table in tables):
        try:
            answers[name] = sorted(map(_values, read(place)))
        except Exception as error:  # noqa: BLE001 - any error of an engine
            answers[name] = f"{type(error).__name__}: {error}"
    print(f"\n{json.dumps(answers)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
