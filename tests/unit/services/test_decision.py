"""A plan as text and as JSON."""

from __future__ import annotations

from hoodie.services.decision import Decision
from hoodie.services.guard import Deletion
from hoodie.services.measures import Measure, Trigger
from hoodie.services.stages import (
    Backlog,
    CatalogChanges,
    Facts,
    Item,
    Items,
    Notes,
)


def test_a_long_plan_does_not_flood_the_terminal():
    many = tuple(Item(f"f{n}", 1) for n in range(1000))
    plan = Decision(None, "why", (Notes(["first"]), Items("remove", many, 1000), Notes(["last"])))
    lines = plan.as_text("clean").splitlines()
    assert lines[:3] == ["clean: why", "first", "               1 bytes  f0"]
    assert lines[-3:] == [
        "  … and 800 more (--json shows all)",
        "last",
        "would remove 1,000 files, 1,000 bytes; nothing was changed",
    ]
    assert len(plan.as_dict("clean")["files"]) == 1000


def test_facts_are_for_programs():
    item = Item("a", 5, "old", {"file_group": "g"})
    plan = Decision("plan", "why", (Facts({"policy": "P"}), Items("remove", (item,), 5)))
    assert plan.as_dict("clean") == {
        "service": "clean",
        "reason": "why",
        "policy": "P",
        "bytes": 5,
        "files": [{"path": "a", "bytes": 5, "file_group": "g", "reason": "old"}],
        "verb": "remove",
        "noun": "file",
        "digest": plan.digest,
    }


def test_a_plan_without_files_says_what_it_does_instead():
    plan = Decision(None, "why", (CatalogChanges(None, None, ()),))
    assert plan.as_text("sync") == "sync: why\nwould make 0 changes to the catalog; nothing was changed"
    assert plan.as_dict("sync") == {
        "service": "sync",
        "reason": "why",
        "instant": None,
        "extractor": None,
        "actions": [],
    }


def test_what_was_measured_is_for_programs_beside_its_limit():
    commits = Measure(3, 4, "commit", "hoodie.max.commits")
    deletion = Deletion(2, 10, 100, (Measure(2, 1, "file", "hoodie.max.files"),))
    plan = Decision(None, ("first", Trigger((commits,), "clean")), deletion=deletion)
    assert plan.reason == "first; 3 commits (of 4, hoodie.max.commits) since the last clean"
    assert plan.as_dict("clean")["measures"] == [
        {"value": 3, "limit": 4, "unit": "commit", "option": "hoodie.max.commits", "reached": False},
        {"value": 2, "limit": 1, "unit": "file", "option": "hoodie.max.files", "reached": True},
    ]
    assert plan.as_dict("clean")["over_caps"] == ["2 files, where hoodie.max.files is 1"]
    assert "measures" not in Decision(None, "why").as_dict("clean")


def test_a_stage_is_found_by_its_kind_and_replaced_in_place():
    backlog, later = Backlog(1, 2, 3, None, 0), Backlog(1, 2, 3, None, 1)
    plan = Decision(None, "why", (backlog, Notes(["last"])))
    assert plan.stage(Backlog) is backlog
    assert plan.items is None
    assert plan.with_stage(later).stages == (later, Notes(["last"]))
    assert Decision(None, "why").with_stage(later).stages == (later,)
