"""As many commits stay on the active timeline as asked for, and those on which something builds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hoodie.config.key import resolve
from hoodie.config.keys.archive import ARCHIVE_KEYS
from hoodie.model.time import Time
from hoodie.services.archive.retention import Hold, archivable, holds, kept_at_least
from hoodie.timeline import Action, Timeline
from tests.support.made_states import done, pending

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FIVE = [done(f"{number}0", f"{number}1") for number in range(1, 6)]


def options(**given):
    return resolve({name.replace("_", "."): value for name, value in given.items()}, ARCHIVE_KEYS)


def archived(others=(), *, kept=2, allowed=3, found=(), cleans_apart=False):
    timeline = Timeline.of([*FIVE, *others])
    return [
        f"{each.time} {each.action}" for each in archivable(timeline, found, kept, allowed, cleans_apart=cleans_apart)
    ]


def test_the_oldest_go_until_as_many_are_left_as_are_kept():
    assert archived() == ["10 deltacommit", "20 deltacommit", "30 deltacommit"]
    assert archived(allowed=5) == []
    assert archived(found=[Hold(Time("30"), "asked"), Hold(Time("20"), "asked")]) == ["10 deltacommit"]


def test_a_commit_with_a_savepoint_stays():
    """Also where others go beyond it, of which as many are kept all the same."""
    saved = done("10", "12", Action.SAVEPOINT)
    assert archived([saved]) == ["20 deltacommit", "30 deltacommit", "40 deltacommit"]


def test_cleans_and_rollbacks_go_with_the_commits_around_them_or_by_their_own_count():
    cleans = [done(f"{number}5", f"{number}6", Action.CLEAN) for number in range(1, 6)]
    assert archived(cleans[:3]) == [
        "10 deltacommit", "15 clean", "20 deltacommit", "25 clean", "30 deltacommit",
    ]  # fmt: skip
    assert archived(cleans, allowed=9, cleans_apart=True) == []
    apart = archived(cleans, found=[Hold(Time("10"), "asked")], cleans_apart=True)
    assert apart == ["15 clean", "25 clean", "35 clean"]
    assert archived(cleans, found=[Hold(Time("20"), "asked", every=True)], cleans_apart=True) == [
        "10 deltacommit", "15 clean",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"hoodie_keep_min_commits": 3, "hoodie_clean_commits_retained": 10}, 11),
        ({"hoodie_keep_min_commits": 30, "hoodie_clean_commits_retained": 10}, 30),
        ({"hoodie_keep_min_commits": 3, "hoodie_clean_policy": "KEEP_LATEST_FILE_VERSIONS"}, 3),
    ],
)
def test_more_stay_than_the_clean_counts(given, kept):
    assert kept_at_least(Timeline.of(FIVE), options(**given), NOW, UTC) == kept


def test_what_holds_commits_back():
    def since(others, clean=None, *, merge_on_read=False, **given):
        timeline = Timeline.of([*FIVE, *others])
        return [(hold.since, hold.instant) for hold in holds(timeline, options(**given), merge_on_read, clean)]

    plan, saved = pending("35", Action.COMPACTION), done("20", "22", Action.SAVEPOINT)
    assert since([]) == []
    assert since([plan]) == [("30", plan)], "the commit before it, too"
    assert since([pending("35", Action.CLEAN)]) == []
    assert since([done("40", "42", Action.SAVEPOINT), saved]) == [("20", saved)]
    assert since([], Time("30")) == []
    assert since([], Time("30"), hoodie_archive_block_on_latest_clean_ectr=True) == [("30", None)]
    late = done("15", "99")
    assert since([late]) == [("15", late)], "later commits have to be completed after it, whatever their clock says"
    assert since([replace(late, file_name="15.commit")]) == [], "the clock of a storage"
    compaction = done("25", "26", Action.COMMIT)
    assert since([compaction], merge_on_read=True) == [("25", compaction)]
    three = {"hoodie_compact_inline_max_delta_commits": 3}
    assert since([compaction], merge_on_read=True, **three) == [("30", FIVE[2])]
