"""An archival that dies, or loses an answer, at each of its storage calls: no instant is lost, none is stored twice."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq
import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.storage import LocalStorage
from hoodie.timeline.archive import LogArchive
from tests.support.clock import FakeClock
from tests.support.crashes import failures, reopen
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
    "hoodie.timeline.compaction.batch.size": 2,
    "hoodie.timeline.manifest.retained.versions": 1,
}
SHORTER = SHORT | {
    "hoodie.keep.max.commits": 2,
    "hoodie.keep.min.commits": 1,
    "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
}


def prepare(path, version):
    """Some commits are archived by two runs already, so that the next one merges files of the history."""
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
    for number in range(9):
        table.write(batch([("same", "p", number + 1, number), (f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
        if number == 5:
            table.run(CLEAN, {"hoodie.clean.commits.retained": 4})
            table.run(ARCHIVE, SHORT | {"hoodie.timeline.compaction.batch.size": 10})
    return table


def every(table):
    state = table.state()
    return {(i.time, i.action.completed_as) for i in (*state.archive.instants(), *state.timeline)}


def stored(table):
    """Count the entries of each completed instant in the archive."""
    state = table.state()
    if isinstance(state.archive, LogArchive):
        archive = state.archive
        return Counter(entry.instant.key for path in archive._paths() for entry in archive._of_file(path))
    rows = Counter()
    for file in state.archive._files:
        found = pq.read_table(f"{table.base_path}/{state.layout.archive_folder}/{file.name}")
        rows.update(zip(found["instantTime"].to_pylist(), found["action"].to_pylist(), strict=True))
    return rows


@pytest.mark.parametrize(
    ("version", "kind"),
    sample(
        [("9", "kill"), ("6", "kill"), ("9", "half"), ("6", "full"), ("9", "lost"), ("6", "retried"), ("9", "deaf")],
        *(2, 3, 6),
    ),
)
def test_archival_at_every_storage_call(tmp_path, version, kind):
    origin = prepare(tmp_path / "origin", version)
    wanted, rows = every(origin), content(origin)
    for storage, clock, error in failures(
        tmp_path / "origin",
        lambda storage, clock: reopen(storage, clock).run(ARCHIVE, SHORT),
        "kill" if kind == "half" else kind,
        half=kind == "half",
        few=20,
        beside=(),
    ):
        path = storage.base_path
        call = f"{storage.fail_at} {storage.log[storage.fail_at - 1]}: {error!r}"
        left = HoodieTable.open(path, clock=clock)
        assert every(left) == wanted, call
        assert content(left) == rows, call
        LocalStorage(path).delete(".hoodie/lock")  # its process is gone
        left.write(batch([("z", "p", 9, 9)]), "upsert", SMALL_BLOOM)
        left.run(ARCHIVE, SHORTER)
        again = HoodieTable.open(path, clock=clock)
        assert len(again.timeline.commits) == 1, call
        assert every(again) > wanted, call
        assert max(stored(again).values()) == 1, call
        assert not {i.key for i in again.timeline} & set(stored(again)), call
        assert content(again) == rows | {"z": ("p", 9, 9)}, call
