"""Apache Hudi 1.2.0 carries on after our process was killed: no wrong row, no data file of no commit, nothing pending.

A few points of each action; `make kill-matrix` takes every call (docs/reliability.md).
"""

from __future__ import annotations

import pytest

from tests.kills.actions import ACTIONS
from tests.kills.hudi import hudi_can, hudi_carries_on
from tests.kills.recovery import Kills

pytestmark = pytest.mark.interop
SAMPLED = {name: action for name, action in ACTIONS.items() if hudi_can(action) and action.version == "9"}
SAMPLED |= {
    name: ACTIONS[name] for name in ("upsert-MERGE_ON_READ-6", "compaction-MERGE_ON_READ-8", "restore-MERGE_ON_READ-6")
}


@pytest.mark.parametrize("action", SAMPLED.values(), ids=SAMPLED)
def test_hudi_carries_on_after_a_kill(tmp_path, action, hudi12):
    kills = Kills(action, tmp_path)
    points = kills.damaging
    hudi_carries_on(kills, points[len(points) // 3 :: (len(points) + 1) // 2], hudi12)
