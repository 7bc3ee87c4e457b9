"""Statements in a topic at which a load stops."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.cdc.messages.contract import MESSAGES, Statement
from hudi_services.sources.ingest.kafka.statements import stopped, stopping

KNOWN = pa.schema([("id", pa.int32())])


def first(*texts, table="shop.orders"):
    found = stopping([Statement(number, text) for number, text in enumerate(texts)], table, KNOWN)
    return None if found is None else found.number


def test_only_statements_that_may_change_rows_of_the_table_stop():
    assert first() is None
    assert first("TRUNCATE TABLE shop.items", "ALTER TABLE orders ADD COLUMN x INT", "TRUNCATE TABLE shop.orders") == 2
    assert first("ALTER TABLE `orders` ADD COLUMN x INT DEFAULT 5") == 0
    assert first("DROP TABLE items, orders") == 0


def test_without_a_table_every_statement_stops():
    assert first("ALTER TABLE a ADD COLUMN x INT", table=None) == 0
    assert first("TRUNCATE TABLE shop_1.orders", table="shop_*.orders") == 0


def test_the_error_says_where_and_how_to_go_on():
    messages = pa.table([[3], [17], [None], [None], [None]], schema=MESSAGES)
    error = stopped("topic orders", Statement(0, "TRUNCATE orders"), messages)
    assert "'TRUNCATE orders' in partition 3, offset 17" in str(error)
    assert "--statements skip" in str(error)
