"""Tables of version 6 with a history, and all that can be read of a table, before and after its upgrade."""

from __future__ import annotations

from hoodie import ARCHIVE, CLEAN, CLUSTERING, COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.timeline import WRITE_ACTIONS
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

ALL_LOGS = {"hoodie.compaction.strategy": "UnBoundedCompactionStrategy"}


def made(path, table_type="COPY_ON_WRITE", clock=None, **options):
    """An empty table of version 6."""
    given = {"hoodie.write.table.version": "6", "hoodie.table.type": table_type, **options}
    return create(path, clock=clock or FakeClock(), engine=LocalEngine(1), **given)


def with_history(path, table_type, clock=None, *, archived=False):
    """A table of version 6 with updates, deletions, replaced and cleaned files, a savepoint, a rolled-back commit, and logs in
    its older slices. `archived`: its oldest instants are archived."""
    table = made(path, table_type, clock)
    for number in range(1, 5):
        table.write(batch([("a", "p", number, number), ("b", "q", number, number)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b", "q", 9, 0)]), "delete", SMALL_BLOOM)
    compact(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    if archived:
        keep = {"hoodie.keep.min.commits": 3, "hoodie.keep.max.commits": 4, "hoodie.clean.commits.retained": 2}
        assert table.run(ARCHIVE, keep).instants
    table.write(batch([("c", "q", 1, 1), ("d", "r", 1, 1)]), "upsert", SMALL_BLOOM)
    table.savepoint()
    table.write(batch([("a", "p", 7, 7)]), "upsert", SMALL_BLOOM)
    table.write(batch([("e", "r", 1, 5)]), "insert_overwrite", SMALL_BLOOM)
    table.schedule(CLUSTERING, force=True)
    table.run(CLUSTERING)
    table.write(batch([("a", "p", 8, 8)]), "upsert", SMALL_BLOOM)
    compact(table)
    return table


def compact(table):
    """Compact all logs; nothing happens to a copy-on-write table."""
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, ALL_LOGS, force=True)
        table.run(COMPACTION)


def all_reads(table):
    """Every snapshot, range and change that a user can ask for, by the begin of each commit: the rows, or the error."""
    table = HoodieTable(table.storage, table.engine, table.clock)
    state = table.state()
    writes = [instant.time for instant in state.archive.instants() if instant.action in WRITE_ACTIONS]
    result = {"now": rows(table.read)}
    for time in (*writes, *(instant.time for instant in state.timeline.commits)):
        result["as of", time] = rows(table.read, as_of=time)
        result["after", time] = rows(table.read_incremental, time)
        result["until", time] = rows(table.read_incremental, None, time)
        result["changes", time] = rows(table.read_changes, time)
    return result


def rows(read, *positions, **options):
    """The rows as text, in no order; of an error its kind."""
    try:
        return sorted(map(str, read(*positions, **options).to_pylist()))
    except HoodieError as error:
        return type(error).__name__
