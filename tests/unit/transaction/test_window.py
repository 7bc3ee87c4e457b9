"""A window holds all that others have done between two looks at a table."""

from __future__ import annotations

import pytest

from hoodie.timeline import Action, State
from hoodie.transaction.window import Window
from tests.support.made_states import done, pending, state_of


def window(before, after):
    return Window(state_of("9", {}, before), state_of("9", {}, after))


def test_commits_count_by_their_completion_whenever_they_began():
    found = window(
        [done("10", "11"), pending("20"), pending("40", Action.CLEAN)],
        [done("10", "11"), done("20", "35"), done("30", "31"), done("40", "41", Action.CLEAN), pending("50")],
    )
    assert [each.time for each in found.commits] == ["20", "30"]
    assert window([], []).commits == ()


@pytest.mark.parametrize("action", [Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT])
def test_new_plans_that_wait(action):
    old, new = pending("10", action, State.REQUESTED), pending("20", action, State.REQUESTED)
    assert window([old], [old, new, pending("30"), pending("40", Action.CLEAN)]).plans == (new,)
    assert window([old], [pending("10", action)]).plans == (), "it was there, and has begun since"


def test_commits_that_were_taken_back():
    found = window([done("10", "11"), done("20", "21"), done("30", "31")], [done("20", "21")])
    assert [each.time for each in found.taken_back] == ["30"], "10 is older than the timeline: it was archived"


def test_restores_that_began_or_ended():
    begun, ended = pending("20", Action.RESTORE), done("20", "21", Action.RESTORE)
    assert window([], [begun]).restores == (begun,)
    assert window([begun], [ended]).restores == (ended,)
    assert window([ended], [ended]).restores == ()
