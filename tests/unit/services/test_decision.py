"""A plan as text and as JSON."""

from __future__ import annotations

from hoodie.services.decision import Decision, Item, Items


def test_a_long_plan_does_not_flood_the_terminal():
    many = tuple(Item(f"f{n}", 1) for n in range(1000))
    plan = Decision(None, "why", {}, Items("remove", many, 1000), before=("first",), after=("last",))
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
    plan = Decision("plan", "why", {"policy": "P"}, Items("remove", (item,), 5))
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
    plan = Decision(None, "why", {"actions": []}, before=(), would="would make 0 changes to the catalog")
    assert plan.as_text("sync") == "sync: why\nwould make 0 changes to the catalog; nothing was changed"
    assert plan.as_dict("sync") == {"service": "sync", "reason": "why", "actions": []}
