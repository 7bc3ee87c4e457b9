"""Archival beside Hudi: each reads what the other archived and goes on with it, and the same instants go."""

from __future__ import annotations

import shutil

import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.timeline import WRITE_ACTIONS, Action
from tests.interop.rows import rows
from tests.interop.test_archive import COLUMNS, STEPS, bounds, ours, table_of, theirs
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
    "hoodie.compact.inline.max.delta.commits": 1,
    "hoodie.timeline.compaction.batch.size": 2,
}
MORE = [(["k0"], "upsert"), (["k5"], "upsert"), (["k1", "k6"], "upsert"), (["k2"], "delete"), (["k7"], "upsert")]


def their_options(version, kind):
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.clean.automatic": "false",
        **{key: str(value) for key, value in SHORT.items()},
    }


def they_write(peer, table, steps, first, **more):
    kind = "MERGE_ON_READ" if table.state().properties.is_merge_on_read else "COPY_ON_WRITE"
    for number, (ids, operation) in enumerate(steps, first):
        options = their_options(str(table.version), kind) | {"hoodie.datasource.write.operation": operation} | more
        peer.write(table.base_path, table_of(ids, number), options)


def commits(table):
    """Times of all write instants, archived and not. The archive has each once."""
    state = table.state()
    archived = [i.time for i in state.archive.instants() if i.action is not Action.CLEAN]
    active = [i.time for i in state.timeline.commits]
    assert not set(archived) & set(active)
    for instant in state.archive.instants():
        if instant.action not in (Action.CLEAN, Action.ROLLBACK):
            assert state.commit_metadata(instant).operation
    return [*archived, *active]


def same_changes(peer, table):
    """Incremental queries find the same rows, from the last archived commit on and from each later one."""
    state = table.state()
    archived = [i for i in state.archive.instants() if i.action in WRITE_ACTIONS]
    seen = []
    for start in [archived[-1], *state.timeline.commits[::2], state.timeline.commits[-1]]:
        moments, options = bounds(table, start.time if table.version == 6 else start.completion_time)
        seen.append(rows(table.read_incremental(*moments), COLUMNS))
        assert seen[-1] == rows(peer.read(table.base_path, **options), COLUMNS), start
    assert any(seen)
    assert seen[-1] == []


CASES = [("hudi12", "9", "COPY_ON_WRITE"), ("hudi12", "9", "MERGE_ON_READ"), ("hudi12", "6", "MERGE_ON_READ")]
CASES += [("hudi12", "8", "COPY_ON_WRITE"), ("hudi12", "8", "MERGE_ON_READ")]
CASES += [("hudi15", "6", "COPY_ON_WRITE"), ("hudi15", "6", "MERGE_ON_READ")]


@pytest.mark.parametrize(("bundle", "version", "kind"), sample(CASES, 0))
def test_hudi_goes_on_with_what_we_archived(tmp_path, request, recorded, bundle, version, kind):
    peer = request.getfixturevalue(bundle)
    hudi = recorded(bundle) if version == "8" else None
    table = (theirs if version == "8" else ours)(hudi, tmp_path / "t", version, kind, STEPS, keep=20)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    before = commits(table)
    assert table.run(ARCHIVE, SHORT).instants >= 5
    assert commits(table) == before
    assert rows(peer.read(table.base_path), COLUMNS) == rows(table.read(), COLUMNS)
    same_changes(peer, table)
    they_write(peer, table, MORE, len(STEPS))
    again = HoodieTable.open(table.base_path)
    assert len(again.timeline.commits) < len(MORE), "Hudi archives, too"
    assert commits(again)[: len(before)] == before
    assert len(commits(again)) == len(STEPS) + len(MORE)
    assert rows(again.read(), COLUMNS) == rows(peer.read(table.base_path), COLUMNS)
    again.write(table_of(["k9"], 50), "upsert")
    again.run(ARCHIVE, SHORT | {"hoodie.keep.max.commits": 3})
    assert len(commits(again)) == len(STEPS) + len(MORE) + 1
    they_write(peer, again, [(["k8"], "upsert")], 60)
    assert rows(again.read(), COLUMNS) == rows(peer.read(table.base_path), COLUMNS)
    same_changes(peer, again)
    assert {"k8", "k9"} <= {row[0] for row in rows(again.read(), COLUMNS)}


@pytest.mark.parametrize(("bundle", "version", "kind"), sample(CASES, 5))
def test_the_same_instants_go(tmp_path, request, recorded, bundle, version, kind):
    """One table, archived by Hudi after a write of its own, and by us after the same write."""
    peer = request.getfixturevalue(bundle)
    table = theirs(recorded(bundle), tmp_path / "t", version, kind, keep=20)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 3})
    known = {(i.time, i.action.completed_as) for i in table.timeline}
    copy = tmp_path / "copy"
    shutil.copytree(table.base_path, copy)
    they_write(peer, table, MORE[:1], len(STEPS))
    same = HoodieTable.open(str(copy))
    they_write(peer, same, MORE[:1], len(STEPS), **{"hoodie.archive.automatic": "false"})
    same.run(ARCHIVE, SHORT)
    left = [{(i.time, i.action.completed_as) for i in each.timeline} & known for each in (table, same)]
    assert left[0] < known
    assert left[0] == left[1]
    assert [i.key for i in table.state().archive.instants()] == [i.key for i in same.state().archive.instants()]
    assert rows(same.read(), COLUMNS) == rows(peer.read(copy), COLUMNS)
