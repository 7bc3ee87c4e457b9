"""The batch recomputation: what each layer must hold after the events that have landed, computed by DuckDB from their files."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from hudi_services.demo.stream.events import ALLOWED
from hudi_services.demo.stream.layers import BY_COUNTRY, BY_MINUTE, LAYERS, PAID_ORDERS, Layer

_PAID_ORDERS = f"""
    SELECT o.order_id, o.version * 1000 + p.version AS version, o.country, o.amount, p.paid, p.paid_at,
           strftime(p.paid_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') AS minute
    FROM (SELECT DISTINCT * EXCLUDE landed_at FROM 'LANDING/orders/*.parquet'
          WHERE landed_at - made_at <= INTERVAL {ALLOWED} SECOND) o
    JOIN (SELECT DISTINCT * EXCLUDE landed_at FROM 'LANDING/payments/*.parquet'
          WHERE landed_at - made_at <= INTERVAL {ALLOWED} SECOND) p USING (order_id)
    WHERE p.made_at BETWEEN o.made_at - INTERVAL 2 MINUTE AND o.made_at + INTERVAL 2 MINUTE
    QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY o.version DESC, p.version DESC) = 1 AND NOT o.cancelled
"""
_SUMS = "count(*)::BIGINT AS orders, sum(paid)::BIGINT AS revenue"
_STATEMENTS = {
    PAID_ORDERS.name: "SELECT * FROM paid_orders",
    BY_MINUTE.name: f"SELECT minute, country, {_SUMS} FROM paid_orders GROUP BY ALL",
    BY_COUNTRY.name: f"SELECT country, {_SUMS} FROM paid_orders GROUP BY ALL",
}


def recomputed(landing: Path) -> dict[str, pa.Table]:
    """Return the rows of each layer, sorted by key, without the times of landing."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE paid_orders AS {_PAID_ORDERS.replace('LANDING', str(landing))}")
        return {
            layer.name: _sorted(layer, connection.sql(_STATEMENTS[layer.name]).to_arrow_table()) for layer in LAYERS
        }


def stored(layer: Layer, lake: Path) -> pa.Table:
    """Return the rows of a layer in the same form."""
    return _sorted(layer, layer.table(lake).read())


def differences(landing: Path, lake: Path) -> list[str]:
    """Return a sentence for each layer that is not what the recomputation says."""
    expected = recomputed(landing)
    faults = []
    for layer in LAYERS:
        rows = stored(layer, lake)
        if not rows.equals(expected[layer.name]):
            faults.append(f"{layer.name} has {rows.num_rows:,} rows, {expected[layer.name].num_rows:,} are right")
    return faults


def _sorted(layer: Layer, rows: pa.Table) -> pa.Table:
    schema = pa.schema([column for column in layer.schema if column.name != "landed_at"])
    rows = rows.select(schema.names).cast(schema)
    return rows.sort_by([(name, "ascending") for name in layer.keys]).combine_chunks()
