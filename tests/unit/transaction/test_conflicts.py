"""Two changes of one file group conflict, unless the second one bears what the first has made of it."""

from __future__ import annotations

import pytest

from hoodie.model.files import GroupId
from hoodie.timeline import Action
from hoodie.transaction.change import Change
from hoodie.transaction.conflicts import conflict_error, find_conflict
from hoodie.transaction.window import Window
from tests.support.made_states import base_file, done, log_file, pending, state_of, wrote

FIRST = {done("10", "11"): wrote(base_file("10"))}
OWN = pending("20")
F = GroupId("p", "f")


def conflict(body, since=None, *, version="9", begun=FIRST, now=None, others=(OWN,), **change):
    """The conflict of a change with this body, beside the commits of `since`."""
    states = (
        state_of(version, begun, (OWN,)),
        state_of(version, {**begun, **(since or {})} if now is None else now, others),
    )
    return find_conflict(Change(OWN, body, **change), Window(*states))


def test_two_writes_to_one_file_group():
    """By their completion: the other may have begun before."""
    for time in ("15", "30"):
        other = {done(time, "35"): wrote(base_file(time))}
        found = conflict(wrote(base_file("20")), other)
        assert (found.winner.time, found.groups) == (time, (F,))
        assert conflict(wrote(log_file("20")), other).groups == (F,)
    assert conflict(wrote(base_file("20", "g")), other) is None
    assert conflict(wrote(base_file("20", partition="q")), other) is None


def test_a_group_that_the_other_replaced():
    replaced = {done("30", "31", Action.REPLACE_COMMIT): wrote(base_file("30", "g"), replaced={"p": ("f",)})}
    assert conflict(wrote(base_file("20")), replaced).groups == (F,)
    assert conflict(wrote(base_file("20", "h"), replaced={}), replaced) is None
    assert conflict(wrote(base_file("20", "h")), replaced, touched=frozenset({F})).groups == (F,), "it was read"


def test_a_partition_that_the_change_overwrites():
    other = {done("30", "31"): wrote(base_file("30", "new"))}
    assert conflict(wrote(base_file("20")), other, overwrites=("p",)).groups == (GroupId("p", "new"),)
    assert conflict(wrote(base_file("20")), other, overwrites=("q",)) is None
    compacted = {done("30", "31", Action.COMMIT): wrote(base_file("30"), operation="COMPACT")}
    assert conflict(wrote(base_file("20", "g")), compacted, overwrites=("p",)) is None


@pytest.mark.parametrize(
    ("version", "slice_of_log", "bears"), [("9", "20", True), ("6", "30", True), ("6", "10", False)]
)
def test_a_log_beside_a_compaction(version, slice_of_log, bears):
    compacted = {done("30", "31", Action.COMMIT): wrote(base_file("30"), operation="COMPACT")}
    found = conflict(wrote(log_file(slice_of_log)), compacted, version=version)
    assert (found is None) is bears
    assert conflict(wrote(base_file("20")), compacted, version=version).groups == (F,)


@pytest.mark.parametrize(("time", "bears"), [("15", True), ("30", False)])
def test_a_log_beside_merged_logs(time, bears):
    """Readers order them by the time of their instant, so a later one would hide the rows."""
    merged = {done(time, "35"): wrote(log_file(time), operation="LOG_COMPACT")}
    assert (conflict(wrote(log_file("20")), merged) is None) is bears


def test_a_change_whose_own_instant_was_taken_back():
    found = conflict(wrote(base_file("20", "g")), others=())
    assert "took it for dead" in found.reason


def test_a_commit_on_which_it_was_built_was_taken_back():
    two = {**FIRST, done("12", "13"): wrote(base_file("12", "x"))}
    found = conflict(wrote(base_file("20", "g")), begun=two, now=FIRST)
    assert found.winner.time == "12"


def test_a_restore_conflicts_with_everything():
    restore = pending("30", Action.RESTORE)
    assert conflict(wrote(base_file("20", "g")), others=(OWN, restore)).winner == restore


@pytest.mark.parametrize(("waiting", "lost"), [("15", True), ("30", False)])
def test_logs_of_version_6_whose_compaction_was_given_up(waiting, lost):
    plan = pending("30", Action.COMPACTION)
    two = state_of("6", FIRST, (OWN, plan)), state_of("6", FIRST, (OWN, plan))
    found = find_conflict(Change(OWN, wrote(log_file(waiting))), Window(*two))
    assert (found is not None and "was given up" in found.reason) is lost


def test_the_error_names_the_winner_and_a_few_groups():
    other = {done("30", "31"): wrote(*(base_file("30", f"f{number}") for number in range(5)))}
    found = conflict(wrote(*(base_file("20", f"f{number}") for number in range(5))), other)
    text = str(conflict_error(state_of("9", FIRST), OWN, found))
    assert "Write 20 of table" in text
    assert "by 30 deltacommit COMPLETED" in text
    assert "f0 of partition 'p', f1 of partition 'p', f2 of partition 'p' and 2 more" in text
