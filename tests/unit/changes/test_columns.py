"""Followers of a table whose columns get other names: no change goes into another column than the rows before it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.changes.columns import check_column_names
from hoodie.errors import ChangeRangeError
from hoodie.read.incremental import time_in_range
from hoodie.schema.changes import AddColumn, DropColumn, RenameColumn, WidenColumn
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

AGAIN = [DropColumn("value"), AddColumn("value", pa.int64())]
SWAP = [RenameColumn("value", "x"), RenameColumn("other", "value"), RenameColumn("x", "other")]
RENAME = [RenameColumn("value", "amount")]
FIELD = [RenameColumn("s.n", "m")]


def rows(number):
    data = batch([("a", "p", number, number)])
    struct = pa.array([{"n": number, "k": 1}], pa.struct([("n", pa.int64()), ("k", pa.int64())]))
    return (
        data.append_column("other", pa.array([number]))
        .append_column("small", pa.array([1], pa.int32()))
        .append_column("s", struct)
    )


@pytest.fixture(params=[6, 9])
def table(tmp_path, request):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    table.write(rows(1), options=SMALL_BLOOM)
    return table


def position(table):
    state = table.state()
    return max(time_in_range(state, commit) for commit in state.timeline.commits)


def refused(table, after, until=None, *, renamed=True):
    """The reason why the changes after a position do not go on, or nothing."""
    try:
        check_column_names(table.state(), after, until, renamed=renamed)
    except ChangeRangeError as error:
        return error.found.partition(",")[0]
    return ""


@pytest.mark.parametrize(
    ("changes", "as_copy", "as_reader"),
    [
        (AGAIN, "'value' is the name of another column", "'value' is the name of another column"),
        (SWAP, "'other' is the name of another column", "'other' is the name of another column"),
        (RENAME, "column 'value' is now 'amount'", ""),
        (FIELD, "column 's.n' is now 's.m'", ""),
        ([*RENAME, RenameColumn("amount", "value")], "", ""),
        ([AddColumn("more", pa.int32())], "", ""),
        ([DropColumn("value")], "column 'value' was dropped", ""),
        ([DropColumn("s.n")], "column 's.n' was dropped", ""),
        ([WidenColumn("small", pa.int64())], "", ""),
    ],
)
def test_names_that_change(table, changes, as_copy, as_reader):
    before = position(table)
    table.alter(changes)
    after = position(table)
    assert refused(table, before) == as_copy
    assert refused(table, before, renamed=False) == as_reader
    assert refused(table, before, before) == "", "a range that ends before it has the columns of then"
    assert refused(table, after) == ""


def test_a_name_that_is_used_again_after_it_was_gone_for_a_while(table):
    table.alter(AGAIN[:1])
    between = position(table)
    table.alter(AGAIN[1:])
    assert refused(table, between, renamed=False) == "'value' is the name of another column"


def test_a_table_without_an_alteration_has_no_such_names(table):
    before = position(table)
    table.write(rows(2).append_column("new", pa.array([1])), options=SMALL_BLOOM)
    assert refused(table, before) == ""
