"""Sets of MySQL's transactions: as a model of plain sets has them, and as the bytes of the log."""

from __future__ import annotations

import struct
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_services.sources.cdc.mysql.binlog.body import Body
from hudi_services.sources.cdc.mysql.gtid_set import (
    GtidSet,
    gtid_set,
    logged_transaction,
    previous_transactions,
    tagged_transaction,
)

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "00000000-0000-0000-0000-000000000001"
TAGGED = f"{A}:backup"
TRANSACTIONS = st.lists(st.tuples(st.sampled_from([A, B, TAGGED]), st.integers(1, 30), st.integers(0, 4)), max_size=20)


def built(ranges):
    found, model = GtidSet(), set()
    for server, first, more in ranges:
        found.add(server, first, first + more)
        model |= {(server, number) for number in range(first, first + more + 1)}
    return found, model


@given(TRANSACTIONS, TRANSACTIONS)
def test_sets_are_those_of_a_model(one, other):
    (found, model), (second, larger) = built(one), built(other)
    every = [(server, number) for server in (A, B, TAGGED) for number in range(40)]
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
    for other in ("0-1-7", f"{A}", f"{A}:0", "x:1", f"{A}:tag", f"{A}:1:tag", f"{A}:t-g:1", f"{A}:" + "t" * 33 + ":1"):
        assert gtid_set(other) is None


def test_tags_are_origins_of_their_own():
    text = f"{A}:1-3:11:Domain_1:1-3:domain_2:5,{B}:_t:7"
    found = gtid_set(text)
    assert str(found) == f"{B}:_t:7,{A}:1-3:11:domain_1:1-3:domain_2:5"
    assert gtid_set(str(found)) == found
    assert (f"{A}:domain_1", 2) in found
    assert (A, 5) not in found
    assert not gtid_set(f"{A}:domain_2:1-3") <= found
    assert gtid_set(f"{A}:domain_1:2-3") <= found


def test_bytes_of_the_log():
    server = uuid.UUID(A).bytes
    body = struct.pack("<Q", 1) + server + struct.pack("<QQQQQ", 2, 1, 6, 7, 8)
    assert str(previous_transactions(body)) == f"{A}:1-5:7"
    assert logged_transaction(b"\1" + server + struct.pack("<Q", 77) + b"more") == (A, 77)
    for end in range(len(body)):
        with pytest.raises(ValueError, match="bytes at"):
            previous_transactions(body[:end])


def tailed(number):
    """A number in the form of newer events."""
    size = max(1, -(-number.bit_length() // 7))
    if size > 8:
        return b"\xff" + number.to_bytes(8, "little")
    return (number << size | (1 << (size - 1)) - 1).to_bytes(size, "little")


def tagged(server=A, number=1, tag="backup", version=1, fields=(0, 1, 2, 3)):
    parts = {
        0: tailed(1),
        1: b"".join(tailed(byte) for byte in uuid.UUID(server).bytes),
        2: tailed(number << 1),
        3: tailed(len(tag)) + tag.encode(),
        9: tailed(80400),
    }
    body = b"".join(tailed(field) + parts[field] for field in fields)
    return tailed(version) + tailed(len(body) + 3) + tailed(0) + body


RECORDED = "415c6855-e9d2-11f1-a095-02fc00000001"  # a MySQL 9.7


def test_events_with_tags():
    recorded = (
        "02740000000282b8d0aaa503490322c5038102550204f103000000020408060c6261636b7570"
        "08140a1c0c7fba5b53393361061059041283120b"
    )
    assert tagged_transaction(bytes.fromhex(recorded)) == (f"{RECORDED}:backup", 2)
    for number in (1, 63, 64, 2**31, 2**62 - 1):
        assert tagged_transaction(tagged(number=number) + tailed(4)) == (f"{A}:backup", number)
    assert tagged_transaction(tagged(tag="")) == (A, 1)


def test_events_with_tags_in_another_form_are_refused():
    for wrong, reason in (
        (tagged(version=2), "in the form 2"),
        (tagged(fields=(0, 9, 3)), "the field 9 in place of its tag"),
        (tagged(fields=(0, 1, 3)), "without its server or number"),
        (tagged(fields=(2, 3)), "without its server or number"),
    ):
        with pytest.raises(ValueError, match=reason):
            tagged_transaction(wrong)
    body = tagged()
    for end in range(len(body)):
        with pytest.raises(ValueError, match="bytes at"):
            tagged_transaction(body[:end])


def test_the_transactions_of_files_before_with_tags():
    recorded = (
        "0102000000000001415c6855e9d211f1a09502fc0000000100010000000000000001000000000000000600000000000000"
        "415c6855e9d211f1a09502fc000000010c6261636b7570010000000000000001000000000000000300000000000000"
    )
    assert str(previous_transactions(bytes.fromhex(recorded))) == f"{RECORDED}:1-5:backup:1-2"
    ranges = struct.pack("<QQQ", 1, 1, 6)
    server = uuid.UUID(A).bytes
    body = (
        struct.pack("<Q", 1 << 56 | 2 << 8 | 1) + server + tailed(0) + ranges + server + tailed(6) + b"backup" + ranges
    )
    assert str(previous_transactions(body)) == f"{A}:1-5:backup:1-5"
    for end in range(len(body)):
        with pytest.raises(ValueError, match="bytes at"):
            previous_transactions(body[:end])


@given(st.integers(0, 2**64 - 1))
def test_numbers_of_newer_events(number):
    body = Body(tailed(number) + b"more")
    assert body.tailed() == number
    assert body.left == 4
