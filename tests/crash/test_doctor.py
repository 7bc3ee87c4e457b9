"""A doctor that is killed at any storage call while it repairs: the next one ends the repair, and no row is lost."""

from __future__ import annotations

import pytest

from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", False), ("6", "kill", True), ("9", "full", False)])
def test_mending_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
        for step in range(2):
            table.write(batch([("a", "p", step, step), (f"b{step}", "q", step, step)]), "upsert", SMALL_BLOOM)
        last = table.timeline.commits[-1].time
        (path / f"part=p/aaaa-0_0-1-2_{int(last) + 7}.parquet").write_bytes(b"orphan")
        (path / f"part=p/bbbb-0_0-1-2_{last}.parquet").write_bytes(b"attempt")
        (path / "part=q/.hoodie_partition_metadata").unlink()
        state = table.state()
        for action in (Action.COMMIT, Action.CLEAN):
            instants.request(state, new_time(state, table.clock), action, b"torn" if action is Action.CLEAN else b"")
        main = path / ".hoodie/hoodie.properties"
        (path / ".hoodie/hoodie.properties.backup").write_bytes(main.read_bytes())
        main.write_bytes(b"torn")

    wanted = {"a": ("p", 1, 1), "b0": ("q", 0, 0), "b1": ("q", 1, 1)}
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.mend(table.diagnose()), kind, half
    ):
        table = reopen(storage, clock)
        table.mend(table.diagnose())
        assert table.diagnose().findings == (), call
        assert content(table) == wanted, call
        copies = storage.list(".hoodie/.quarantine/part=p").files
        kept = {file.name[:4]: storage.read(file.path) for file in copies}
        assert kept == {"aaaa": b"orphan", "bbbb": b"attempt"}, call
