"""Stages of decisions as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.model.time import Time
from hoodie.services.stage_json import items_fields, stage_fields
from hoodie.services.stages import (
    Backlog,
    CatalogChanges,
    DataSkipping,
    ExpiredPlans,
    Facts,
    FilesLeftOut,
    FilterRead,
    Freed,
    HeldFile,
    Item,
    Items,
    KeptByPurge,
    KeptPartitions,
    LeftFile,
    LoadChecks,
    Loss,
    Notes,
    OverdueTrash,
    PendingPlan,
    PendingPlans,
    PurgeScope,
    QuarantinedRows,
    Rewrite,
    StaysAside,
)
from hoodie.sync.model import CreateDatabase
from hoodie.transaction.trash import TrashFolder

AT = Time("20260101000000000")
PLAN = PendingPlan(AT, "compaction", 2)
AS_JSON = {"instant": AT, "action": "compaction", "file_groups": 2}


@dataclass(frozen=True)
class Own:
    """A stage that only a service of a user knows."""

    partitions_seen: int
    names: tuple[str, ...]


def test_pending_plans_are_a_number_or_named():
    backlog = Backlog(1, 3, 100, None, 1)
    numbers = {"file_groups": 1, "log_files": 3, "log_bytes": 100, "oldest_log": None}
    assert stage_fields([backlog]) == {"backlog": {**numbers, "pending_plans": 1}}
    named = Backlog(1, 3, 100, None, 1, (PLAN,))
    assert stage_fields([named]) == {"backlog": {**numbers, "pending_plans": [AS_JSON]}}
    assert stage_fields([PendingPlans((PLAN,))]) == {"pending_plans": [AS_JSON]}


def test_stages_of_a_service_of_ones_own_are_fields():
    assert stage_fields([Own(3, ("a", "b")), Facts({"more": 1}), Notes(["for people"])]) == {
        "partitions_seen": 3,
        "names": ["a", "b"],
        "more": 1,
    }


def test_shares_are_in_thousandths():
    assert stage_fields([DataSkipping((FilterRead("x", 2 / 3, 0.0123),))]) == {
        "skipping": [{"column": "x", "read_before": 0.667, "read_after": 0.012}]
    }


def test_moments_are_texts():
    fields = stage_fields(
        [
            Freed(5, datetime(2026, 1, 2, tzinfo=UTC)),
            Rewrite(1, 2),
            OverdueTrash((TrashFolder(AT, datetime(2026, 1, 2, tzinfo=UTC)),)),
            ExpiredPlans((AT,)),
        ]
    )
    assert json.loads(json.dumps(fields)) == {
        "bytes_freed": 5,
        "freed_from": "2026-01-02T00:00:00+00:00",
        "bytes_read": 1,
        "bytes_written": 2,
        "overdue_trash": [{"clean": AT, "until": "2026-01-02T00:00:00+00:00"}],
        "expired_plans": [AT],
    }


def test_items_have_their_facts_beside_them():
    items = Items("remove", (Item("a", 5, "old", {"file_group": "g"}), Item("b", 1)), 6)
    assert stage_fields([items]) == {}
    assert items_fields(items) == {
        "bytes": 6,
        "files": [{"path": "a", "bytes": 5, "file_group": "g", "reason": "old"}, {"path": "b", "bytes": 1}],
    }


def test_what_stays_and_what_is_lost():
    assert stage_fields(
        [KeptPartitions(("a",), (), 2, "hoodie.max"), StaysAside((("f", "why"),)), Loss(1, 2, 3, 4)]
    ) == {
        "undated": ["a"],
        "absent": [],
        "later": 2,
        "stay_aside": [{"path": "f", "reason": "why"}],
        "rows_inserted": 1,
        "rows_updated": 2,
        "rows_deleted": 3,
        "files_deleted": 4,
    }


def test_a_purge_has_its_counts_and_files():
    kept = KeptByPurge((HeldFile("a", 5, "savepoint 1", "delete it"),), (LeftFile("b", "rows"),), None, 2)
    assert stage_fields([PurgeScope("d", 2, 1, 1, 3, ends_time_travel=True), kept, QuarantinedRows(1, "/bad")]) == {
        "predicate": "d",
        "rows": 2,
        "keys": 1,
        "rewritten": 1,
        "metadata_files": 3,
        "ends_time_travel": True,
        "held": [{"path": "a", "bytes": 5, "by": "savepoint 1", "fix": "delete it"}],
        "left": [{"path": "b", "what": "rows"}],
        "bootstrap_source": None,
        "unsearched_values": 2,
        "quarantined": 1,
        "quarantine": "/bad",
    }


def test_a_load_has_its_checks_and_the_files_that_it_leaves_out():
    assert stage_fields([LoadChecks(("a > 0",), (), ("no order",)), FilesLeftOut(("b",), (("b", "changed"),))]) == {
        "checks": ["a > 0"],
        "failed_checks": [],
        "warnings": ["no order"],
        "changed_after_load": ["b"],
        "left_out": [{"path": "b", "reason": "changed"}],
    }


def test_changes_of_a_catalog_have_a_kind_and_a_text():
    assert stage_fields([CatalogChanges(None, None, (CreateDatabase("d"),))]) == {
        "instant": None,
        "extractor": None,
        "actions": [{"kind": "CreateDatabase", "text": "create database d"}],
    }
