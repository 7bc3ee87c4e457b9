"""A clean that is stopped for longer than its lock is valid, while another changes what it had planned by."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, HoodieTable, Rollback
from hoodie.errors import LockLostError, PendingInstantError
from hoodie.storage import LocalStorage
from tests.support.clock import FakeClock
from tests.support.interleaving import Stopped
from tests.support.tables import SMALL_BLOOM, batch, content, create

LEASE = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"}
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1}
HOUR = 3600


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path, clock):
    made = create(Stopped(str(tmp_path / "t")), clock, **{"hoodie.write.table.version": request.param})
    for step in range(3):
        made.write(batch([("a", "p", step, step)]), "upsert", {**SMALL_BLOOM, **LEASE})
    return made


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("at", [".clean.requested", ".clean.inflight"])
def test_it_deletes_nothing_that_another_has_made_current_meanwhile(table, clock, at, after):
    other = HoodieTable.open(LocalStorage(table.base_path), clock=clock)

    def take_back():
        clock.sleep(HOUR)
        last = other.timeline.commits[-1].time
        if at.endswith(".inflight") or after:
            with pytest.raises(PendingInstantError, match="run `hudi-services clean`, which finishes it"):
                other.run(Rollback(last), LEASE)
        for file in other.storage.list(".hoodie/timeline" if table.version > 6 else ".hoodie").files:
            if ".clean." in file.name:  # as a person does who learns that it blocks
                other.storage.delete(file.path)
        other.run(Rollback(last), LEASE)

    table.storage.at, table.storage.other, table.storage.after = at, take_back, after
    with pytest.raises(LockLostError):
        table.run(CLEAN, {**ONE_VERSION, **LEASE})
    assert content(other) == {"a": ("p", 1, 1)}
    assert content(other, as_of=other.timeline.commits[0].time) == {"a": ("p", 0, 0)}
