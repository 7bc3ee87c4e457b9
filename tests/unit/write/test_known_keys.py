"""`hoodie.datasource.insert.dup.policy`: what an insert does with rows whose keys are stored."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from hoodie.errors import ConfigError, KnownKeyError, WriteConflictError
from tests.support.clock import FakeClock
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

POLICY = "hoodie.datasource.insert.dup.policy"
FIRST = [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]
MORE = [("a", "p", 7, 7), ("n", "p", 7, 7), ("a", "q", 7, 7), ("n", "p", 8, 8)]  # the key a is new in q


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path, version):
    made = create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": request.param}
    )
    made.write(batch(FIRST), "insert", SMALL_BLOOM)
    return made


def insert(table, rows, policy, **options):
    return table.write(batch(rows), "insert", {**SMALL_BLOOM, POLICY: policy, **options})


def rows(table):
    return sorted((row["id"], row["part"], row["ts"]) for row in table.read().to_pylist())


STORED = [("a", "p", 1), ("b", "p", 1), ("c", "q", 1)]


@pytest.mark.parametrize("limit", [0, 100 * 1024 * 1024])
def test_rows_of_known_keys_are_left_out(table, limit):
    done = insert(table, MORE, "drop", **{"hoodie.parquet.small.file.limit": limit})
    assert rows(table) == sorted([*STORED, ("n", "p", 7), ("n", "p", 8), ("a", "q", 7)]), "as Hudi: all of a new key"
    assert (done.rows_inserted, done.rows_known, done.rows_combined) == (3, 1, 0)
    assert "1 left out, as the table has their keys" in str(done)
    done = insert(
        table, [*MORE, ("m", "p", 1, 1), ("m", "p", 2, 2)], "DROP", **{"hoodie.combine.before.insert": "true"}
    )
    assert (done.rows_inserted, done.rows_known, done.rows_combined) == (1, 3, 2)
    assert ("m", "p", 2) in rows(table)


def test_nothing_is_new(table):
    done = insert(table, FIRST, "drop")
    assert (done.files_written, done.rows_known) == (0, 3)
    assert rows(table) == STORED


def test_a_row_of_a_known_key_fails_the_write(table):
    with pytest.raises(KnownKeyError, match=r"'a' in partition 'part=p'.*nothing was written"):
        insert(table, MORE, "fail")
    assert rows(table) == STORED
    assert table.timeline.pending == ()
    insert(table, MORE[1:], "fail")
    assert len(rows(table)) == 6


def test_none_asks_for_no_key(table):
    insert(table, MORE, "none")
    assert len(rows(table)) == 7


@pytest.mark.parametrize("operation", ["upsert", "bulk_insert"])
def test_it_is_for_inserts_alone(table, operation):
    """Hudi makes an upsert an insert, and passes it over in a bulk insert."""
    with pytest.raises(ConfigError, match=f"not for the operation {operation}"):
        table.write(batch(MORE), operation, {POLICY: "drop"})
    table.write(batch(MORE[:1]), "delete", {**SMALL_BLOOM, POLICY: "drop"})
    assert rows(table) == STORED[1:]


def test_generated_keys_are_always_new(tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.table.recordkey.fields": ""})
    with pytest.raises(ConfigError, match="generated"):
        made.write(batch(FIRST), "insert", {POLICY: "drop"})


@pytest.mark.parametrize("policy", ["drop", "fail"])
def test_a_key_that_another_inserts_meanwhile_is_found_on_the_next_attempt(tmp_path, policy):
    create(tmp_path / "t", QuickClock()).write(batch(FIRST), "insert", SMALL_BLOOM)
    options = {**OCC, POLICY: policy, "hoodie.parquet.small.file.limit": 0}
    again = {"hoodie.write.num.retries.on.conflict.failures": 1}
    once, twice = (
        Rival(
            tmp_path / "t", lambda rival, more=more: rival.write(batch(MORE[1:2]), "insert", {**options, **more})
        ).begin()
        for more in ({}, again)
    )
    table = shared(tmp_path / "t")
    table.write(batch([("n", "p", 1, 1)]), "insert", {**OCC, "hoodie.parquet.small.file.limit": 0})
    assert isinstance(once.finish(), WriteConflictError)
    error = twice.finish()
    assert error is None if policy == "drop" else isinstance(error, KnownKeyError)
    assert content(table)["n"] == ("p", 1, 1)
    assert pc.sum(pc.equal(table.read()["id"], "n")).as_py() == 1
