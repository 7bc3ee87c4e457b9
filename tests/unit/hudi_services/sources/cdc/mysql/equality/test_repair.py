"""Repairs beside others that commit: each begins again with a new comparison, and no row is lost."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import PendingInstantError
from hudi_services.sources.cdc.mysql.equality import verify as module
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.equality.test_verify import database, fill, lake, load, rows_of

__all__ = ["database"]
pytestmark = pytest.mark.process


def between(monkeypatch, *actions):
    """Let each action happen once, after a comparison and before its repair."""
    left = list(actions)
    note = EqualityCheck._note

    def beside(self, *arguments, **more):
        note(self, *arguments, **more)
        if left:
            left.pop(0)()

    monkeypatch.setattr(EqualityCheck, "_note", beside)
    monkeypatch.setattr(module, "_PAUSES", (0,) * 6)
    return left


def test_a_repair_begins_again_where_a_load_committed_beside(server, database, tmp_path, monkeypatch):
    fill(server, database)
    load(server, database, tmp_path).run()
    lake(tmp_path).write(pa.table({"id": pa.array([1, 2], pa.int32())}), "delete", SMALL_BLOOM)

    def beside():
        server.run(f"UPDATE {database}.t SET v = 'later' WHERE id IN (2, 3)")
        load(server, database, tmp_path).run()

    between(monkeypatch, beside)
    found = EqualityCheck(load(server, database, tmp_path)).verify(repair=True)
    assert (found.missing, found.written) == (1, 1), "the load beside brought one of the two rows"
    assert not load(server, database, tmp_path).run().commits
    assert {row["id"]: row["v"] for row in rows_of(tmp_path)} == {
        number: "later" if number in (2, 3) else f"v{number}" for number in range(1, 51)
    }
    assert EqualityCheck(load(server, database, tmp_path)).verify().differing == 0


def test_loads_beside_each_try_end_a_repair_which_has_written_nothing(server, database, tmp_path, monkeypatch):
    fill(server, database)
    load(server, database, tmp_path).run()
    lake(tmp_path).write(pa.table({"id": pa.array([1], pa.int32())}), "delete", SMALL_BLOOM)
    turns = iter(range(99))

    def beside():
        server.run(f"UPDATE {database}.t SET v = 'turn {next(turns)}' WHERE id = 3")
        load(server, database, tmp_path).run()

    left = between(monkeypatch, *[beside] * 9)
    with pytest.raises(PendingInstantError, match=r"during each repair, so nothing was repaired.*pause them") as raised:
        EqualityCheck(load(server, database, tmp_path)).verify(repair=True)
    assert raised.value.retryable
    assert (len(left), len(rows_of(tmp_path))) == (4, 49)
    monkeypatch.undo()
    check = EqualityCheck(load(server, database, tmp_path))
    assert check.verify(repair=True).written == 1
    assert {row["v"] for row in rows_of(tmp_path) if row["id"] == 3} == {"turn 4"}
    assert check.verify().differing == 0


@pytest.mark.parametrize("repair", ["verify", "resync"])
def test_rows_that_another_writer_changed_beside_are_compared_before_they_count_as_equal(
    server, database, tmp_path, monkeypatch, repair
):
    """It moves no position: without a look at its commit, the repair would leave its row, and a proof that all are equal."""
    fill(server, database)
    load(server, database, tmp_path).run()
    damaged = pa.table(
        {"id": pa.array([1, 7], pa.int32()), "v": ["x", "y"], "n": pa.array([1, 7], pa.decimal128(8, 2))}
    )
    lake(tmp_path).write(damaged.slice(0, 1), "upsert", SMALL_BLOOM)
    between(monkeypatch, lambda: lake(tmp_path).write(damaged.slice(1, 1), "upsert", SMALL_BLOOM))
    check = EqualityCheck(load(server, database, tmp_path))
    found = check.verify(repair=True) if repair == "verify" else check.resync()
    assert (found.changed, found.written) == (2, 2)
    assert check.verify().differing == 0
    assert {row["v"] for row in rows_of(tmp_path) if row["id"] in (1, 7)} == {"v1", "v7"}


def test_a_load_between_the_two_commits_of_a_repair_loses_no_row(server, database, tmp_path, monkeypatch):
    """The first commit takes copies of a key out, the second one writes its row."""
    fill(server, database)
    load(server, database, tmp_path).run()
    right, write, left = rows_of(tmp_path), TargetTable.write_parts, [1]
    lake(tmp_path).write(lake(tmp_path).read(filter="id = 1"), "bulk_insert", SMALL_BLOOM)
    monkeypatch.setattr(module, "_PAUSES", (0,) * 6)

    def written(self, *arguments, **more):
        instant = write(self, *arguments, **more)
        if more.get("known") is not None and left:
            monkeypatch.setattr(TargetTable, "write_parts", write)
            server.run(f"UPDATE {database}.t SET v = 'turn {left.pop()}' WHERE id = 3")
            load(server, database, tmp_path).run()
            monkeypatch.setattr(TargetTable, "write_parts", written)
        return instant

    monkeypatch.setattr(TargetTable, "write_parts", written)
    check = EqualityCheck(load(server, database, tmp_path))
    found = check.verify(repair=True)
    assert (found.copied, found.missing, found.written) == (0, 1, 1)
    monkeypatch.undo()
    assert [row for row in rows_of(tmp_path) if row["id"] != 3] == [row for row in right if row["id"] != 3]
    assert check.verify().differing == 0


def test_a_repair_that_stops_between_its_two_commits_says_that_rows_are_missing(
    server, database, tmp_path, monkeypatch
):
    fill(server, database)
    load(server, database, tmp_path).run()
    right, write = rows_of(tmp_path), TargetTable.write_parts
    lake(tmp_path).write(lake(tmp_path).read(filter="id = 1"), "bulk_insert", SMALL_BLOOM)
    monkeypatch.setattr(module, "_PAUSES", (0,) * 6)
    repairs = []

    def written(self, *arguments, **more):
        if more.get("known") is not None:
            repairs.append(1)
            if len(repairs) > 1:
                raise PendingInstantError("Another writer committed to the table in the meantime")
        return write(self, *arguments, **more)

    monkeypatch.setattr(TargetTable, "write_parts", written)
    check = EqualityCheck(load(server, database, tmp_path))
    with pytest.raises(PendingInstantError, match=r"lacks the rows of keys.*2 copies were deleted.*run again"):
        check.verify(repair=True)
    monkeypatch.undo()
    assert len(rows_of(tmp_path)) == 49
    assert check.verify(repair=True).written == 1
    assert rows_of(tmp_path) == right
