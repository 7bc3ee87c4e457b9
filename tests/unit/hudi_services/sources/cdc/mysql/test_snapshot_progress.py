"""The progress of a snapshot in the commits of its table."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import CorruptTableError
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition, stored_position
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress

LOW, HIGH = LogPosition("bin.000001", 4), LogPosition("bin.000002", 99)


def test_it_grows_by_chunks_until_the_last_key():
    begun = SnapshotProgress(LOW, "digest", None, (b"9", b"\xff'"))
    one = begun.after(HIGH, (b"3", b""), 5)
    assert one == SnapshotProgress(HIGH, "digest", (b"3", b""), (b"9", b"\xff'"), 5)
    done = one.after(LOW, (b"9", b"\xff'"), 2)
    assert (one.is_read, done) == (False, SnapshotProgress(HIGH, rows=7))
    for progress in (begun, one, done, None):
        position = StoredPosition("shop/d.t", str(LOW), "log", progress)
        assert stored_position(position.text, "commit") == position
    assert json.loads(StoredPosition("s", "f:1", "log").text) == {"source": "s", "position": "f:1", "log": "log"}


@pytest.mark.parametrize(
    "snapshot",
    [
        {},
        [],
        {"high": "x", "rows": 1},
        {"high": "f:1"},
        {"high": "f:1", "rows": 1, "last": ["zz"]},
        {"high": "f:1", "rows": 1, "done": 5},
    ],
)
def test_other_contents_are_refused(snapshot):
    text = json.dumps({"source": "s", "position": "f:1", "log": "log", "snapshot": snapshot})
    with pytest.raises(CorruptTableError):
        stored_position(text, "commit")
