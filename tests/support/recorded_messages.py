"""Messages that Debezium 3.5.0 wrote of a MariaDB server, and the changes that the binlog reader read of the same log.

The table `edges.t` has a column of each type of tests/support/mysql_types.py. Rows with the values there were inserted, one was
then updated, one deleted. `typed` are messages with column.propagate.source.type=.*, `plain` those without, after a TRUNCATE.
Settings: enable.time.adjuster=false, skipped.operations=none, decimal.handling.mode=precise,
bigint.unsigned.handling.mode=precise. The converters are Kafka's JsonConverter (with schemas, and `bare` without them) and
Confluent's AvroConverter 7.0.16.
"""

from __future__ import annotations

import base64
import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.messages import messages

GOLDEN = Path(__file__).parents[1] / "golden/messages"
TABLE, SHAPES = "lake.edges.t", "lake.edges.g"
TRANSACTIONS, HEARTBEATS, STATEMENTS = "lake.transaction", "__debezium-heartbeat.lake", "lake"


@cache
def _recorded() -> dict[str, Any]:
    return json.loads(lzma.decompress((GOLDEN / "debezium-mariadb.json.xz").read_bytes()))


def recorded(form: str, encoding: str, *topics: str) -> pa.Table:
    """Return the messages of topics. `encoding` is json, bare or avro."""
    found = [record for record in _recorded()[form]["records"] if record["topic"] in topics]
    values, keys = ([_bytes(record[f"{encoding}_{part}"], encoding) for record in found] for part in ("value", "key"))
    return messages(values, keys)


def avro_schemas() -> dict[int, str]:
    """Return the schemas of the Avro messages by their ids."""
    return {int(number): text for number, text in _recorded()["typed"]["schemas"].items()}


def _bytes(text: str | None, encoding: str) -> bytes | None:
    if text is None or (text == "null" and encoding == "bare"):
        return None
    return base64.b64decode(text) if encoding == "avro" else text.encode()


@cache
def logged_changes() -> pa.Table:
    """Return the changes of the table as the binlog reader gives them."""
    return pa.ipc.open_stream(lzma.decompress((GOLDEN / "binlog-mariadb.arrow.xz").read_bytes())).read_all()


def columns_of(changes: pa.Table, image: str) -> dict[str, pa.Array]:
    """Return the columns of an image."""
    structs = changes[image].combine_chunks()
    return dict(zip((part.name for part in structs.type.fields), structs.flatten(), strict=True))
