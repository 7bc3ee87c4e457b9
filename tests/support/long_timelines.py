"""A table of many commits, and options that keep few of them."""

from __future__ import annotations

from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
    "hoodie.compact.inline.max.delta.commits": 1,
}


def written(path, commits=8, **options):
    """A table with this number of commits. Each updates a key, and on a copy-on-write table adds one."""
    table = create(path, FakeClock(), **options)
    fill(table, commits)
    return table


def fill(table, commits=8):
    """Those commits, to a table without any."""
    adds = not table.properties.is_merge_on_read
    for number in range(commits):
        rows = [("same", "p", number + 1, number), *([(f"k{number}", "p", 1, number)] if adds else [])]
        table.write(batch(rows), "upsert", SMALL_BLOOM, extra_metadata={"n": str(number)})


def all_instants(table):
    """All instants, archived and not: time, action, completion time in versions 8 and 9."""
    state = table.state()
    found = [*state.archive.instants(), *state.timeline]
    keep = state.layout.names_tell_completion
    return [(i.time, i.action.completed_as, i.completion_time if keep else None) for i in found]
