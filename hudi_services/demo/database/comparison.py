"""The proof: all rows of the server's tables beside those of the Hudi tables, while the writer is paused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql

from hoodie import HoodieTable
from hudi_services.demo.database.sources import Source, Sources

_ORIGIN = ("_source_database", "_source_table")
"""The columns of a merged Hudi table that say where a row is from."""


@dataclass(frozen=True)
class Comparison:
    """`rows` of the server in `tables` tables, and a sentence for each Hudi table that has others."""

    tables: int
    rows: int
    differences: tuple[str, ...]


def compare(connection: pymysql.connections.Connection[Any], sources: Sources, lake: Path) -> Comparison:
    """Compare all tables, value by value. The caller has paused the writer."""
    rows, differences = 0, []
    targets = [((source,), lake / "cdas_demo.db" / source.name) for source in sources.alone]
    for members, path in [*targets, (sources.shards, lake / "db1.db" / "ctas_demo")]:
        merged = members is sources.shards
        stored = HoodieTable.open(str(path)).read()
        expected = pa.concat_tables(
            [_rows(connection, source, stored.schema, merged) for source in members], promote_options="default"
        )
        rows += expected.num_rows
        if difference := _difference(stored, expected, ("id", *_ORIGIN) if merged else ("id",)):
            differences.append(f"{path}: {difference}")
    return Comparison(len(sources.all), rows, tuple(differences))


def _rows(connection: pymysql.connections.Connection[Any], source: Source, schema: pa.Schema, merged: bool) -> pa.Table:
    """The rows of a table at the server. Columns that `schema` has are of its types."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {source.full}")
        names = [column[0] for column in cursor.description]
        columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    types = [schema.field(name).type if name in schema.names else None for name in names]
    table = pa.table({name: pa.array(values, kind) for name, values, kind in zip(names, columns, types, strict=True)})
    if merged:
        for name, value in zip(_ORIGIN, (source.database, source.name), strict=True):
            table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return table


def _difference(stored: pa.Table, expected: pa.Table, keys: Sequence[str]) -> str | None:
    if sorted(stored.schema.names) != sorted(expected.schema.names):
        return f"its columns are {', '.join(stored.schema.names)}, the server has {', '.join(expected.schema.names)}"
    if stored.num_rows != expected.num_rows:
        return f"it has {stored.num_rows:,} rows, the server has {expected.num_rows:,}"
    order = [(name, "ascending") for name in keys]
    expected = expected.select(stored.schema.names).cast(pa.schema([(f.name, f.type) for f in stored.schema]))
    stored, expected = stored.cast(expected.schema).sort_by(order), expected.sort_by(order)
    other = [name for name in stored.schema.names if not stored[name].equals(expected[name])]
    return f"values of {', '.join(other)} are others" if other else None
