"""Causes and stages of decisions as sentences."""

from __future__ import annotations

from hoodie.services.stage_text import cap_texts, reason_text
from hoodie.services.stages import Measure, TimelineLength, Trigger

COMMITS = Measure(1, 4, "commit", "hoodie.max.commits")
SECONDS = Measure(86_400, 3_600, "s", "hoodie.max.seconds")


def test_a_trigger_names_the_option_of_its_limit_or_the_rule_between_limits():
    assert reason_text(Trigger((COMMITS,), "clean")) == "1 commit (of 4, hoodie.max.commits) since the last clean"
    assert reason_text(Trigger((COMMITS, SECONDS), "compaction", "hoodie.rule=EITHER")) == (
        "1 commit (of 4) and 86,400 s (of 3,600) since the last compaction (hoodie.rule=EITHER)"
    )


def test_the_length_of_the_timeline_says_what_its_limit_means():
    three = Measure(3, 1, "commit", "hoodie.keep")
    assert [reason_text(TimelineLength(three, rule)) for rule in ("archived from", "stay", "retained")] == [
        "3 commits on the timeline, and it is archived from 1 on",
        "3 commits on the timeline, and the last 1 stay",
        "3 commits on the timeline, and 1 is retained",
    ]


def test_causes_are_one_line():
    assert reason_text(("asked for", Trigger((COMMITS,), "clean"))) == (
        "asked for; 1 commit (of 4, hoodie.max.commits) since the last clean"
    )


def test_caps_name_their_options():
    over = [Measure(1, 0, "file", "a"), Measure(2_000, 10, "byte", "b"), Measure(0.5, 0.25, "share", "c")]
    assert list(cap_texts(over, 4_000)) == [
        "1 file, where a is 0",
        "2,000 bytes, where b is 10",
        "50.0% of the table's 4,000 bytes, where c is 25.0%",
    ]
