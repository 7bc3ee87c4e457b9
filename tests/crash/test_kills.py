"""A real process is killed at the storage calls of each action: who carries on finds no wrong row and leaves no file.

One in 18 of the calls that write for each table version, a third in `make test-deep`. `make kill-matrix` takes all, and Hudi
too (docs/contributing/reliability.md). The other tests of this folder fail at every call, inside one process.
"""

from __future__ import annotations

import pytest

from tests.kills.actions import ACTIONS
from tests.kills.matrix import documented
from tests.kills.recovery import Kills
from tests.support.matrix import DEEP, covering

NAMED = {(action.name, action.kind, action.version): action for action in ACTIONS.values()}


@pytest.mark.parametrize(("name", "kind", "version"), covering(list(NAMED)))
def test_we_carry_on_after_a_kill(tmp_path, name, kind, version):
    kills = Kills(NAMED[name, kind, version], tmp_path)
    kills.we_carry_on(kills.share(3 if DEEP else 18) or kills.few()[:1])


def test_the_matrix_of_the_documentation_has_these_actions():
    assert documented() == [(action.title, action.version) for action in ACTIONS.values()]
