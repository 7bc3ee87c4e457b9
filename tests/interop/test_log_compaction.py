"""Log compactions go from hand to hand: what one side merges, schedules or executes, the other one reads and goes on with."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, LOG_COMPACTION
from hoodie.formats.log import Header, scan_blocks
from tests.interop.rows import rows
from tests.interop.test_cow import hudi_options
from tests.interop.test_mor import mor_history
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

TWO = {"hoodie.log.compaction.blocks.threshold": 2}


def hand_to_hand(hudi, ours, table, ordering):
    """Ours is read; Hudi's plan is executed by us, ours by Hudi; Hudi merges inline; both compact what is left."""
    options = {
        **hudi_options(ours, ordering),
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.table.name": "trips",
        "hoodie.write.table.version": str(ours.version),
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.compact.inline.max.delta.commits": "100",
        "hoodie.log.compaction.enable": "true",
        "hoodie.log.compaction.blocks.threshold": "2",
    }

    def both():
        found = rows(ours.read())
        assert rows(hudi.read(ours.base_path)) == found
        return found

    if ours.version != 6:
        time = ours.schedule(LOG_COMPACTION, TWO)
        ours.write(table(["k1", "k6", "k80", "k3"], [50, 50, 50, 50], [7.0] * 4), "upsert")
        waiting = both()
        ours.run(LOG_COMPACTION, time=time)
        assert both() == waiting

    hudi.write(ours.base_path, table(["k1", "k9", "k70"], [90, 1, 30], [5.0] * 3), options)
    waiting = both()
    time = hudi.log_compaction(ours.base_path, **options)
    assert [(i.time, i.action) for i in ours.timeline.pending] == [(time, "logcompaction")]
    (result,) = ours.run(LOG_COMPACTION, TWO)
    assert result.instant.time == time
    assert result.metadata.stats
    assert both() == waiting

    ours.write(table(["k1", "k11"], [95, 95], [9.0, 9.0]), "upsert")
    ours.write(table(["k2", "k12"], [95, 95], [9.0, 9.0]), "delete")
    waiting = both()
    if ours.version != 6:
        time = ours.schedule(LOG_COMPACTION, TWO)
        assert hudi.log_compaction(ours.base_path, time, **options) == time
    assert ours.timeline.pending == ()
    assert both() == waiting

    inline = {**options, "hoodie.log.compaction.inline": "true"}
    hudi.write(ours.base_path, table(["k1", "k9", "k70"], [96, 96, 96], [5.5] * 3), inline)
    hudi.write(ours.base_path, table(["k1", "k13"], [97, 97], [6.5] * 2), inline)
    merged = [i.time for i in ours.timeline.commits if ours.state().commit_metadata(i).operation == "LOG_COMPACT"]
    assert len(merged) >= 2
    logs = [log for s in ours.file_slices() for log in s.log_files]
    blocks = [block for log in logs for block in scan_blocks(ours.storage, log.path)]
    assert any(Header.COMPACTED_BLOCK_TIMES in block.headers for block in blocks if block.instant == merged[-1])
    waiting = both()
    ours.schedule(COMPACTION, force=True)
    ours.run(COMPACTION)
    assert both() == waiting


@pytest.mark.format("6.5e")
@pytest.mark.parametrize(("version", "ordering"), sample([("9", True), ("9", False), ("6", True)], 1))
def test_with_hudi_12(tmp_path, hudi12, version, ordering):
    ours, table = mor_history(tmp_path / "t", version, ordering)
    hand_to_hand(hudi12, ours, table, ordering)


@pytest.mark.deep("test_history.py has this release of Hudi, and the other test its log compactions")
def test_with_hudi_15(tmp_path, hudi15):
    ours, table = mor_history(tmp_path / "t", "6", True)
    # Its log compaction makes a deletion by key of a marked row, and of these it compares no ordering values.
    ours.write(table(["k8"], [20], [1.0]), "upsert")
    hand_to_hand(hudi15, ours, table, True)


@pytest.mark.format("6.5e")
def test_hudi_rs_reads_it(tmp_path, hudi_rs_read):
    ours, table = mor_history(tmp_path / "t", "9", True)
    time = ours.schedule(LOG_COMPACTION, TWO)
    ours.write(table(["k1", "k80"], [50, 50], [7.0, 7.0]), "upsert")
    ours.run(LOG_COMPACTION, time=time)
    assert rows(hudi_rs_read(ours.base_path)) == rows(ours.read())


def test_why_version_6_is_refused(tmp_path, hudi15, monkeypatch):
    """Hudi 0.15 applies the merged deletion of k6 once more, after the row that came back since."""
    monkeypatch.setattr("hoodie.services.log_compaction.plan.check_supported", lambda _state: None)
    ours, table = mor_history(tmp_path / "t", "6", True)
    time = ours.schedule(LOG_COMPACTION, TWO)
    ours.write(table(["k6"], [50], [7.0]), "upsert")
    assert rows(hudi15.read(ours.base_path)) == rows(ours.read())
    ours.run(LOG_COMPACTION, time=time)
    lost = set(rows(ours.read())) - set(rows(hudi15.read(ours.base_path)))
    assert [row[1] for row in lost] == ["k6"]
