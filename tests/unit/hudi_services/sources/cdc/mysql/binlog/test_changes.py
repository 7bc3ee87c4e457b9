"""Random changes of rows, read as another decoder reads them."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal

import pymysqlreplication
import pytest
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

from tests.support.binlog import log_end, logged, operations, rows_of

pytestmark = pytest.mark.process

TABLE = """CREATE TABLE random.t (id INT PRIMARY KEY, small TINYINT, big BIGINT UNSIGNED, price DECIMAL(14,4), ratio DOUBLE,
  short VARCHAR(20), wide VARCHAR(2000), line TEXT, raw VARBINARY(40), day DATE, at DATETIME(3),
  kind ENUM('a','b','c'), flags SET('x','y','z'))"""


def drawn(draw: random.Random, key: int) -> tuple[object, ...]:
    values = (
        draw.randint(-128, 127),
        draw.randrange(2**64),
        Decimal(draw.randrange(-(10**14), 10**14)).scaleb(-4),
        draw.uniform(-1e9, 1e9),
        "".join(draw.choices("aé中😀 '\\", k=draw.randrange(20))),
        "w" * draw.randrange(600),
        "".join(draw.choices("tü\n\t", k=draw.randrange(300))),
        draw.randbytes(1 + draw.randrange(39)),  # nor does it keep empty bytes
        date(1900, 1, 1) + timedelta(draw.randrange(100_000)),
        datetime(1970, 1, 1) + timedelta(milliseconds=draw.randrange(4 * 10**12)),
        draw.choice("abc"),
        ",".join(
            ["x", *(label for label in "yz" if draw.random() < 0.5)]
        ),  # the other decoder takes an empty set for null
    )
    return key, *(None if draw.random() < 0.15 else value for value in values)


def test_random_rows_are_those_of_another_decoder(server):
    draw = random.Random(20)
    server.run("CREATE DATABASE random", TABLE)
    start = log_end(server)
    connection = server.connection("random")
    with connection.cursor() as cursor:
        marks = ", ".join(["%s"] * 13)
        cursor.executemany(f"INSERT INTO t VALUES ({marks})", [drawn(draw, key) for key in range(300)])
        for _ in range(40):
            low = draw.randrange(300)
            cursor.execute(
                "UPDATE t SET small = NULL, wide = CONCAT(IFNULL(wide, ''), 'x') WHERE id BETWEEN %s AND %s",
                (low, low + 9),
            )
            cursor.execute("DELETE FROM t WHERE id = %s", (draw.randrange(300),))
    connection.close()
    parts = logged(server, start)
    before, after, ops = rows_of(parts, "before"), rows_of(parts), operations(parts)
    expected = list(others_changes(server, start))
    assert len(ops) == len(expected) > 500
    assert ops == [op for op, _, _ in expected]
    wrong = [
        (name, row[name], other[name])
        for images, number in ((before, 1), (after, 2))
        for row, other in zip(images, (change[number] for change in expected), strict=True)
        for name in other or ()
        if row[name] != other[name]
    ]
    assert wrong == []


def others_changes(server, start):
    stream = pymysqlreplication.BinLogStreamReader(
        {"host": "127.0.0.1", "port": server.port, "user": "lake", "passwd": "p@ss/wörd:1".encode()},
        server_id=77,
        log_file=start.file,
        log_pos=start.offset,
        resume_stream=True,
        only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
        only_schemas=["random"],
    )
    try:
        for event in stream:
            for row in event.rows:
                if isinstance(event, UpdateRowsEvent):
                    yield "u", alike(row["before_values"]), alike(row["after_values"])
                elif isinstance(event, DeleteRowsEvent):
                    yield "d", alike(row["values"]), None
                else:
                    yield "i", None, alike(row["values"])
    finally:
        stream.close()


def alike(values):
    """In our types: sets are text in the order of their declaration."""
    texts = {name: ",".join(sorted(value)) if isinstance(value, set) else value for name, value in values.items()}
    return texts | ({"big": Decimal(texts["big"])} if texts["big"] is not None else {})


def test_columns_that_change_between_rows_are_shapes_of_their_own(server):
    server.run("CREATE DATABASE shapes", "CREATE TABLE shapes.t (id INT PRIMARY KEY, a INT)")
    start = log_end(server)
    server.run(
        "INSERT INTO shapes.t VALUES (1, 1)",
        "ALTER TABLE shapes.t ADD COLUMN b VARCHAR(10) FIRST, RENAME COLUMN a TO c",
        "INSERT INTO shapes.t (id, b, c) VALUES (2, 'x', 2)",
        "ALTER TABLE shapes.t MODIFY c BIGINT UNSIGNED, DROP COLUMN b",
        "INSERT INTO shapes.t VALUES (3, 18446744073709551615)",
        "UPDATE shapes.t SET c = 0 WHERE id = 1",
    )
    assert rows_of(logged(server, start)) == [
        {"id": 1, "a": 1},
        {"b": "x", "id": 2, "c": 2},
        {"id": 3, "c": Decimal(2**64 - 1)},
        {"id": 1, "c": Decimal(0)},
    ]
