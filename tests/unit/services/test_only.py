"""A service that is asked for one plan carries out that one and no other, even if the table changes in between."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, CLUSTERING, COMPACTION, LOG_COMPACTION, TTL, HoodieTable
from hoodie.errors import DeleteCapError, HoodieError, PlanChangedError
from hoodie.services.archive.service import ARCHIVE, Archive
from hoodie.services.clean.service import Clean
from hoodie.services.service import schedule
from hoodie.services.ttl.service import Ttl
from hoodie.view import clustering_plan, compaction_plan
from tests.support.clock import FakeClock
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM, batch, content, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
CLEANED = {"hoodie.clean.commits.retained": 1}
DROPPED = {"hoodie.partition.ttl.strategy.days.retain": 5}


def filled(folder: Path, kind: str = "MERGE_ON_READ") -> HoodieTable:
    """Two partitions with two file groups each, one of these with logs, and an old partition."""
    clock = FakeClock()
    table = create(folder / "t", clock, **{"hoodie.table.type": kind})
    table.write(batch([("z", "old", 1, 1)]), "insert", APART)
    clock.time += timedelta(days=9)
    for step, keys in enumerate(("ab", "cd")):
        table.write(batch([(key, part, 1, step) for key in keys for part in (key,)]), "insert", APART)
        table.write(batch([(f"{key}2", key, 1, step) for key in keys]), "insert", APART)
    for step in (2, 3):
        table.write(batch([("a", "a", step, step)]), "upsert", APART)
    return table


def asked(table: HoodieTable, service: str, only: str | None, options: dict[str, Any]) -> Any:
    """Carries out, or schedules, what is due, or only that plan."""
    match service:
        case "clean":
            return table.run(Clean(only=only), options)
        case "ttl":
            return table.run(Ttl(only=only), options)
        case "archive":
            return table.run(Archive(only), options)
        case _:
            kind = {"compact": COMPACTION, "cluster": CLUSTERING, "log compaction": LOG_COMPACTION}[service]
            return schedule(table.access, kind, options, force=True, only=only)


def planned(table: HoodieTable, service: str, options: dict[str, Any]) -> Any:
    kinds = {"clean": CLEAN, "ttl": TTL, "archive": ARCHIVE}
    if service in kinds:
        return table.explain(kinds[service], options)
    kind = {"compact": COMPACTION, "cluster": CLUSTERING, "log compaction": LOG_COMPACTION}[service]
    return kind.decide(table.state(), options, table.clock, force=True)


SERVICES = {
    "clean": CLEANED,
    "ttl": DROPPED,
    "archive": SHORT,
    "compact": {},
    "log compaction": {"hoodie.log.compaction.blocks.threshold": 2},
    "cluster": {"hoodie.clustering.plan.strategy.sort.columns": "value"},
}


def instants(table: HoodieTable) -> list[tuple[str, str, str]]:
    found = HoodieTable.open(table.base_path).timeline
    return [(str(each.time), str(each.action), each.state.name) for each in found]


@pytest.mark.parametrize("service", SERVICES)
def test_the_plan_that_was_shown_is_carried_out(service: str, tmp_path: Path) -> None:
    kind = "COPY_ON_WRITE" if service == "clean" else "MERGE_ON_READ"
    table, options = filled(tmp_path, kind), SERVICES[service]
    decision = planned(table, service, options)
    assert decision.plan is not None
    assert f"plan {decision.digest}" in decision.as_text(service)
    assert decision.as_dict(service)["digest"] == decision.digest
    before = instants(table)
    asked(table, service, decision.digest, options)
    assert instants(table) != before


@pytest.mark.parametrize("service", SERVICES)
def test_another_plan_is_refused_and_nothing_is_done(service: str, tmp_path: Path) -> None:
    kind = "COPY_ON_WRITE" if service == "clean" else "MERGE_ON_READ"
    table, options = filled(tmp_path, kind), SERVICES[service]
    other = next(each for each in ("ttl", "cluster") if each != service)
    for digest in ("0" * 12, planned(table, other, SERVICES[other]).digest):
        before = instants(table)
        with pytest.raises(PlanChangedError, match=f"plan {digest}.*hudi-services .* --explain") as refused:
            asked(table, service, digest, options)
        assert not refused.value.retryable
        assert instants(table) == before


def test_a_plan_of_a_table_that_needs_nothing_is_refused(tmp_path: Path) -> None:
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    for service, options in SERVICES.items():
        decision = planned(table, service, options) if service not in ("compact", "log compaction") else None
        if decision is None or decision.plan is not None:
            continue
        with pytest.raises(PlanChangedError):
            asked(table, service, decision.digest, options)


def test_plans_of_the_same_files_differ_by_what_is_done_with_them(tmp_path: Path) -> None:
    table = filled(tmp_path)
    digests = {
        planned(table, "compact", {}).digest,
        planned(table, "log compaction", SERVICES["log compaction"]).digest,
        planned(table, "cluster", {}).digest,
        planned(table, "cluster", {"hoodie.clustering.plan.strategy.sort.columns": "value"}).digest,
        planned(table, "cluster", {"hoodie.clustering.plan.strategy.sort.columns": "id"}).digest,
    }
    assert len(digests) == 5


def test_what_changes_between_the_look_and_the_lock_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled(tmp_path)
    digest, decide = planned(table, "compact", {}).digest, type(COMPACTION).decide
    calls: list[Any] = []

    def late(self: Any, state: Any, *given: Any, **named: Any) -> Any:
        found = decide(self, state, *given, **named)
        calls.append(found)
        if len(calls) == 1:
            HoodieTable.open(table.base_path, clock=table.clock).write(batch([("c", "c", 9, 9)]), "upsert", APART)
        return found

    monkeypatch.setattr(type(COMPACTION), "decide", late)
    with pytest.raises(PlanChangedError):
        asked(table, "compact", digest, {})
    assert len(calls) == 2
    assert not [each for each in instants(table) if each[1] == "compaction"]


def test_an_archival_moves_no_instant_that_was_not_shown(tmp_path: Path) -> None:
    table = filled(tmp_path)
    decision = planned(table, "archive", SHORT)
    done = asked(table, "archive", decision.digest, SHORT)
    assert done.instants == len(decision.plan.instants)
    assert done.last == max(each.time for each in decision.plan.instants)


STEPS = st.lists(st.sampled_from(["upsert a", "upsert c", "insert", "clean", "compact", "nothing"]), max_size=3)


@settings(max_examples=examples(24), deadline=None)
@given(st.sampled_from(sorted(SERVICES)), STEPS, st.integers(0, 2**16))
def test_whatever_happens_meanwhile_it_is_that_plan_or_none(
    tmp_path_factory: pytest.TempPathFactory, service: str, steps: list[str], seed: int
) -> None:
    table, options = filled(tmp_path_factory.mktemp("only")), SERVICES[service]
    decision = planned(table, service, options)
    if decision.plan is None:
        return
    shown = sorted((item.path, item.bytes, tuple(item.parts)) for item in decision.items)
    chance = random.Random(seed)
    for step in steps:
        _happen(table, step, chance)
    before = instants(table)
    now = planned(HoodieTable.open(table.base_path, clock=table.clock), service, options)
    same = now.plan is not None and sorted((i.path, i.bytes, tuple(i.parts)) for i in now.items) == shown
    try:
        asked(table, service, decision.digest, options)
    except PlanChangedError:
        assert not same
        assert instants(table) == before
        return
    assert same
    state = HoodieTable.open(table.base_path).state()
    for each in state.timeline.pending:
        if service == "cluster" and each.action.name in ("CLUSTERING", "REPLACE_COMMIT"):
            plan = clustering_plan(state, each)
            assert plan is not None
            assert len(plan.inputs) == len(shown)
        if service == "compact" and each.action.name == "COMPACTION":
            assert sorted(f"{op.partition}/{op.file_id}" for op in compaction_plan(state, each).operations) == [
                path for path, *_ in shown
            ]


def _happen(table: HoodieTable, step: str, chance: random.Random) -> None:
    other = HoodieTable.open(table.base_path, clock=table.clock)
    number = chance.randrange(100)
    try:
        match step:
            case "upsert a" | "upsert c":
                other.write(batch([(step[-1], step[-1], 10 + number, number)]), "upsert", APART)
            case "insert":
                other.write(batch([(f"n{number}", "a", 1, 1)]), "insert", APART)
            case "clean":
                other.run(CLEAN, CLEANED)
            case "compact":
                schedule(other.access, COMPACTION, {}, force=True)
                other.run(COMPACTION)
    except HoodieError:
        pass  # it is refused beside something else: then nothing happened


def old_partitions(folder: Path) -> HoodieTable:
    """Two partitions whose time is over, with two file groups each."""
    clock = FakeClock()
    table = create(folder / "t", clock)
    for keys in ("ab", "cd"):
        table.write(batch([(key, part, 1, 1) for key, part in zip(keys, "pq", strict=True)]), "insert", APART)
    clock.time += timedelta(days=9)
    return table


NARROWED = {
    "ttl": (DROPPED, {"hoodie.partition.ttl.strategy.partition.selected": "part=p"}),
    "cluster": ({}, {"hoodie.clustering.plan.strategy.partition.selected": "part=p"}),
}


@pytest.mark.parametrize("service", NARROWED)
def test_a_narrowed_plan_has_a_digest_of_its_own(service: str, tmp_path: Path) -> None:
    """Neither the run of the whole plan nor that of the part is the other, and the refusal names the one that is due."""
    table, (options, selected) = old_partitions(tmp_path), NARROWED[service]
    part = {**options, **selected}
    whole, narrow = planned(table, service, options), planned(table, service, part)
    assert {item.path for item in narrow.items} == {"part=p"} < {item.path for item in whole.items}
    assert narrow.digest != whole.digest
    before = instants(table)
    for asked_for, other, chosen in ((whole, narrow, part), (narrow, whole, options)):
        with pytest.raises(PlanChangedError, match=f"plan {asked_for.digest} is out of date.*plan {other.digest}"):
            asked(table, service, asked_for.digest, chosen)
    assert instants(table) == before
    asked(table, service, narrow.digest, part)
    assert instants(table) != before
    assert {item.path for item in planned(table, service, options).items} == {"part=q"}


def test_the_approval_of_a_plan_is_none_of_its_part(tmp_path: Path) -> None:
    table, (options, selected) = old_partitions(tmp_path), NARROWED["ttl"]
    capped = {**options, "hoodie.delete.max.files": 1}
    part = {**capped, **selected}
    whole, narrow = planned(table, "ttl", capped), planned(table, "ttl", part)
    before = instants(table)
    for approved, due, chosen in ((whole, narrow, part), (narrow, whole, capped)):
        with pytest.raises(DeleteCapError, match=f"another one than {approved.digest}") as stopped:
            table.run(Ttl(agreed=approved.digest), chosen)
        assert stopped.value.digest == due.digest
    assert instants(table) == before
    table.run(Ttl(agreed=narrow.digest), part)
    assert set(content(table)) == {"b", "d"}
