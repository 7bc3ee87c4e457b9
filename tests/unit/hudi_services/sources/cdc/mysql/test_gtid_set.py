"""Sets of MySQL's transactions: as a model of plain sets has them, and as the bytes of the log."""

from __future__ import annotations

import struct
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_services.sources.cdc.mysql.gtid_set import (
    GtidSet,
    gtid_set,
    logged_transaction,
    previous_transactions,
)

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "00000000-0000-0000-0000-000000000001"
TRANSACTIONS = st.lists(st.tuples(st.sampled_from([A, B]), st.integers(1, 30), st.integers(0, 4)), max_size=20)


def built(ranges):
    found, model = GtidSet(), set()
    for server, first, more in ranges:
        found.add(server, first, first + more)
        model |= {(server, number) for number in range(first, first + more + 1)}
    return found, model


@given(TRANSACTIONS, TRANSACTIONS)
def test_sets_are_those_of_a_model(one, other):
    (found, model), (second, larger) = built(one), built(other)
    every = [(server, number) for server in (A, B) for number in range(40)]
    assert {transaction for transaction in every if transaction in found} == model
    assert (found <= second) == (model <= larger)
    assert gtid_set(str(found)) == GtidSet({server: ranges for server, ranges in found.ranges.items() if ranges})
    copied = found.copy()
    copied.add(A, 100)
    assert (A, 100) not in found


def test_the_form_of_the_server_is_read_and_written():
    text = f"{A.upper()}:1-5:7:9-12,\n{B}:3"
    assert str(gtid_set(text)) == f"{B}:3,{A}:1-5:7:9-12"
    assert str(gtid_set("")) == ""
    for other in ("0-1-7", f"{A}:tag:1-5", f"{A}", f"{A}:0", "x:1"):
        assert gtid_set(other) is None


def test_bytes_of_the_log():
    server = uuid.UUID(A).bytes
    body = struct.pack("<Q", 1) + server + struct.pack("<QQQQQ", 2, 1, 6, 7, 8)
    assert str(previous_transactions(body)) == f"{A}:1-5:7"
    assert previous_transactions(struct.pack("<Q", 1 << 56 | 1)) is None
    assert logged_transaction(b"\1" + server + struct.pack("<Q", 77) + b"more") == (A, 77)
    for end in range(len(body)):
        with pytest.raises(ValueError, match="bytes at"):
            previous_transactions(body[:end])
