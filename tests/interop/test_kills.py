"""Apache Hudi 1.2.0 carries on after our process was killed: no wrong row, no data file of no commit, nothing pending.

A few points of each action; `make kill-matrix` takes every call (docs/reliability.md).
"""

from __future__ import annotations

import pytest

from tests.kills.actions import ACTIONS
from tests.kills.hudi import hudi_carries_on, hudi_is_sampled
from tests.kills.recovery import Kills

pytestmark = pytest.mark.interop
SAMPLED = {name: action for name, action in ACTIONS.items() if hudi_is_sampled(action)}


@pytest.mark.parametrize("action", SAMPLED.values(), ids=SAMPLED)
def test_hudi_carries_on_after_a_kill(tmp_path, action, hudi12):
    kills = Kills(action, tmp_path)
    hudi_carries_on(kills, kills.few(), hudi12)
