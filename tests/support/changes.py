"""Followers of a table's changes, and what they have after them."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from hoodie import WriteHooks
from tests.support.tables import SMALL_BLOOM, batch

OPTIMISTIC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}


class Follower:
    """Applies the changes of a table to an empty one, as a consumer does that keeps the position of its last read."""

    def __init__(self, table, **read):
        self.table, self.read = table, read
        self.rows = Counter()
        self.position = None

    def follow(self):
        """Read and apply what is new; returns the changes."""
        changes = self.table.read_changes(self.position, **self.read)
        apply(self.rows, changes.to_pylist())
        times = changes["_hoodie_completion_time"].to_pylist()
        assert times == sorted(times)
        self.position = max([*times, *([self.position] if self.position else [])], default=None)
        return changes

    def check(self):
        """The rows are those of the table."""
        assert self.rows == counted(self.table.read())


def write(table, rows, operation="upsert", **options):
    """Write rows of `tests.support.tables.batch`; returns the time by which changes order the commit."""
    done = table.write(batch(rows), operation, {**SMALL_BLOOM, **options}).instant
    return done.time if table.version == 6 else done.completion_time


def overtaken(table) -> None:
    """A write of x = 2 in partition q, during which another one changes a in partition p from 1 to 2."""
    write(table, [("a", "p", 1, 1), ("x", "q", 1, 1)], "insert", **OPTIMISTIC)

    def other():
        write(table, [("a", "p", 2, 2)], **OPTIMISTIC)
        return {}

    options = {**SMALL_BLOOM, **OPTIMISTIC}
    table.write(batch([("x", "q", 2, 2)]), "upsert", options, hooks=WriteHooks(before_commit=other))


def apply(rows: Counter, changes) -> None:
    """Apply changes in their order. Each image before is a row that is there."""
    for change in changes:
        before, after = change["before"], change["after"]
        assert (
            change["op"] == {(True, False): "i", (False, False): "u", (False, True): "d"}[before is None, after is None]
        )
        assert before != after
        if before is not None:
            assert rows[_text(before)] > 0, f"{change} changes a row that is not there"
            rows[_text(before)] -= 1
            if not rows[_text(before)]:
                del rows[_text(before)]
        if after is not None:
            rows[_text(after)] += 1


def counted(table: pa.Table) -> Counter:
    """How often each row is in a table."""
    return Counter(map(_text, table.to_pylist()))


def operations(changes: pa.Table) -> list[tuple]:
    """(op, key, value before, value after) of each change of rows of `tests.support.tables.batch`."""
    return [
        (row["op"], row["_hoodie_record_key"], *(image and image["value"] for image in (row["before"], row["after"])))
        for row in changes.to_pylist()
    ]


def _text(row) -> str:
    return repr(sorted(row.items(), key=lambda item: item[0]))
