"""Apache Hudi 1.2.0 carries on after our process was killed: no wrong row, no data file of no commit, nothing pending.

One point of each action, two or three in `make test-deep`. `make kill-matrix` takes all (docs/contributing/reliability.md).
"""

from __future__ import annotations

import pytest

from tests.kills.actions import ACTIONS
from tests.kills.hudi import hudi_carries_on, hudi_is_sampled
from tests.kills.recovery import Kills
from tests.support.matrix import DEEP

pytestmark = pytest.mark.interop
OTHER = pytest.mark.deep("the same action on the other table type, or on another table version")


def _sampled() -> list[object]:
    """Actions. `make test` runs one of each name, in turn on the first kind of table and on the next."""
    named: dict[str, list[str]] = {}
    for name, action in ACTIONS.items():
        if hudi_is_sampled(action):
            named.setdefault(action.name, []).append(name)
    live = {group[turn % len(group)] for turn, group in enumerate(named.values())}
    return [
        pytest.param(ACTIONS[name], id=name, marks=() if name in live else OTHER)
        for group in named.values()
        for name in group
    ]


@pytest.mark.parametrize("action", _sampled())
def test_hudi_carries_on_after_a_kill(tmp_path, action, hudi12):
    kills = Kills(action, tmp_path)
    hudi_carries_on(kills, kills.few() if DEEP else kills.few()[:1], hudi12)
