"""Lines about a snapshot in chunks."""

from __future__ import annotations

from hudi_services.sources.cdc.mysql.snapshot_estimate import SnapshotEstimate, SnapshotPace


def test_a_log_that_is_not_kept_until_the_end_is_named_once():
    clock, lines = [0.0], []
    pace = SnapshotPace(
        SnapshotEstimate(10_000_000, 5 << 20, retention=3600), "shop.t", lines.append, now=lambda: clock[0]
    )
    assert lines == ["shop.t has about 10,000,000 rows, 5.0 MiB. They are read in chunks"]
    for _ in range(2):
        clock[0] += 300
        pace.committed(1_000_000)
    assert lines[1] == "1,000,000 of about 10,000,000 rows, 3,333 rows/s, about 45 min 0 s left"
    assert "keeps its log for 1 h 0 min only" in lines[2]
    assert "binlog_expire_logs_seconds = 12001" in lines[2]
    assert len(lines) == 4


def test_nothing_is_said_of_a_log_that_is_kept_for_ever_or_long_enough():
    for retention in (0, 7200):
        clock, lines = [0.0], []
        estimate = SnapshotEstimate(10_000_000, 0, retention)
        pace = SnapshotPace(estimate, "shop.t", lines.append, 2_000_000, lambda clock=clock: clock[0])
        clock[0] += 300
        pace.committed(1_000_000)
        assert lines[1].startswith("3,000,000 of about 10,000,000 rows, 3,333 rows/s, about 35 min")
        assert len(lines) == 2
