"""Causes and stages of decisions as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.model.time import Time
from hoodie.services.measures import Measure, TimelineLength, Trigger
from hoodie.services.stage_text import cap_texts, reason_text, stage_lines, work_text
from hoodie.services.stages import (
    ArchiveScope,
    Backlog,
    CatalogChanges,
    CleanScope,
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
    KeptByRollback,
    KeptPartitions,
    LeftFile,
    LoadChecks,
    Loss,
    Notes,
    OverdueTrash,
    PendingPlan,
    PendingPlans,
    PlanRemoval,
    PurgeScope,
    QuarantinedRows,
    Regrouping,
    RestoreScope,
    Rewrite,
    SetAside,
    StaysAside,
    Trash,
    TtlScope,
)
from hoodie.sync.model import CreateDatabase
from hoodie.transaction.trash import TrashFolder

COMMITS = Measure(1, 4, "commit", "hoodie.max.commits")
AT = Time("20260101000000000")
SECONDS = Measure(86_400, 3_600, "s", "hoodie.max.seconds")


@dataclass(frozen=True)
class Own:
    """A stage that only a service of a user knows."""

    rows_seen: int
    is_last: bool


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


def lines(*stages):
    return [line for stage in stages for line in stage_lines(stage)]


def test_numbers_that_the_reason_has_are_not_said_again():
    assert lines(CleanScope(3, 5, 100, "KEEP_LATEST_COMMITS", None), Regrouping(0, 0, 4, {}), Facts({"a": 1})) == []
    assert lines(CleanScope(3, 5, 100, "KEEP_LATEST_COMMITS", AT), Notes(["as it is"])) == [
        f"policy KEEP_LATEST_COMMITS, earliest commit to retain {AT}",
        "as it is",
    ]


def test_rewriting_services_say_what_they_take_and_leave():
    waits = PendingPlans((PendingPlan(AT, "clustering", 2),))
    skipping = DataSkipping((FilterRead("x", 0.5, 0.012),))
    assert lines(Backlog(1, 3, 1_000, AT, 2), Regrouping(2, 1, 4, {}), skipping, waits, ExpiredPlans((AT,))) == [
        f"backlog: 3 logs of 1,000 bytes in 1 file groups, the oldest of {AT}; 2 plans wait to be executed",
        "2 file groups become about 1 file; 4 are left",
        "a filter for one value of x reads 50% of these bytes now, about 1.2% then",
        f"clustering {AT} of 2 file groups waits",
        f"clustering {AT} would be unscheduled, as no run carries it out",
    ]


def test_a_plan_says_what_it_costs_and_when_it_frees_its_bytes():
    assert lines(Rewrite(1_000, 2_000), Freed(5, datetime(2026, 1, 2, tzinfo=UTC))) == [
        "would read 1,000 bytes and write about 2,000",
        "their bytes are free from 2026-01-02 00:00 UTC on",
    ]
    assert lines(Rewrite(0, 0), Freed(5)) == []


def test_what_is_deleted_for_good_is_said():
    assert lines(OverdueTrash((TrashFolder(AT, datetime(2026, 1, 2, tzinfo=UTC)),))) == [
        f"would delete for good what clean {AT} set aside until 2026-01-02 00:00 UTC"
    ]


def test_a_stage_of_a_service_of_ones_own_has_a_line_a_field():
    assert lines(Own(1_000, True)) == ["rows seen: 1,000", "is last: True"]
    assert work_text([Own(1, True), Items("remove", (Item("a", 1),), 1)]) == "would remove 1 file, 1 bytes"
    assert work_text([Own(1, True)]) == ""


def test_a_purge_says_what_it_deletes_and_what_stays():
    assert lines(PurgeScope("d", 2, 1, 1, 3, ends_time_travel=True), QuarantinedRows(1, "/bad")) == [
        "deletes 2 rows in one commit",
        "rewrites 1 file group, with new footers",
        "deletes Hudi's metadata table, with values in 3 files",
        "time travel to versions before this run ends for the file groups of these files:",
        "removes 1 bad row of /bad",
    ]
    assert lines(PurgeScope("d", 0, 0, 0, 0, ends_time_travel=False), QuarantinedRows(0, "/bad")) == []
    assert lines(
        KeptByPurge((HeldFile("a", 5, "savepoint 1", "delete it"),), (LeftFile("b", "rows"),), "/source", 2)
    ) == [
        "the source of the bootstrap, /source, is not searched: erase the rows there, too",
        "b stays: it holds rows, which no step of a purge rewrites",
        "rows are searched for all values, bytes not for 2 values (short, or too many)",
        "a stays: savepoint 1; delete it",
    ]
    assert lines(KeptByPurge((), (), None, 0)) == []


def test_a_load_says_its_checks_and_the_files_that_it_leaves_out():
    many = tuple((f"{number}.csv", "is young") for number in range(202))
    assert lines(
        LoadChecks(("a > 0", "unique id"), ("expected freshness 2h",), ("no order",)), FilesLeftOut((), many[:1])
    ) == [
        "checks before anything is written: a > 0, unique id",
        "WARNING: expected freshness 2h",
        "WARNING: no order",
        "left out: 0.csv: is young",
    ]
    assert lines(LoadChecks((), (), ()), FilesLeftOut((), many))[199:] == [
        "left out: 199.csv: is young",
        "  … and 2 more (--json shows all)",
    ]


def test_what_is_kept_has_its_reason():
    kept = KeptPartitions(("a",), ("b",), 2, "hoodie.max")
    assert lines(ArchiveScope(3, None), TtlScope(3, 1, 5), kept, KeptByRollback(AT, True, ("p/.f.log",))) == [
        "partition 'a' has no creation time: it is kept",
        "there is no partition 'b'",
        "2 more wait for later runs (hoodie.max)",
        "its plan stays, and is carried out by the next run of its service",
        f"p/.f.log stays, as it holds blocks of other instants: a command block hides those of {AT}",
    ]
    assert lines(KeptPartitions((), (), 0, "hoodie.max"), KeptByRollback(AT, False, ())) == []


def test_a_restore_says_what_is_lost():
    assert lines(RestoreScope(AT, 2, 1), Loss(1_000, 2, 3, 1)) == [
        f"savepoint: {AT}",
        "commits: 2",
        "pending: 1",
        "lost would be 1,000 inserted rows, 2 updates and 3 deletions, and 1 file",
    ]


def test_what_cleans_have_set_aside_and_what_stays_there():
    many = StaysAside(tuple((f"f{number}", "no slice would have it") for number in range(30)))
    told = lines(Trash((SetAside(AT, "2026-01-02", 1, 10, 2),)), many)
    assert told[:2] == [
        f"clean {AT}: 1 file, 10 bytes, in 2 partitions, until 2026-01-02",
        "stays aside: f0: no slice would have it",
    ]
    assert len(told) == 21


def test_a_plan_without_files_says_what_it_changes():
    changes = CatalogChanges(AT, "Extractor", (CreateDatabase("d"),))
    assert lines(changes, PlanRemoval(AT, "clustering")) == ["partition values by Extractor", "  create database d"]
    assert work_text([changes]) == "would make 1 changes to the catalog"
    assert work_text([PlanRemoval(AT, "clustering")]) == "would unschedule it"
