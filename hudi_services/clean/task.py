"""Removes file slices that no retained view of the table needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.table import HoodieTable
from hoodie.timeline.instant import Action
from hudi_services.entry.dag import Outlook
from hudi_services.entry.explanation import Explanation, Item, Items
from hudi_services.result import ServiceResult


@dataclass(frozen=True)
class CleanTask:
    """A clean of the table at `base_path`; `options` are its own."""

    base_path: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Explanation:
        decision = HoodieTable.open(self.base_path, engine=engine).explain_clean(self.options)
        plan = decision.plan
        policy = f"policy {plan.policy}, earliest commit to retain {plan.earliest_to_retain}" if plan else ""
        return Explanation(
            "clean",
            decision.reason,
            Items(
                "remove",
                tuple(
                    Item(file.path, file.size, file.reason, {"file_group": file.file_id})
                    for file in ((*plan.files, *plan.sources) if plan else ())
                ),
                plan.bytes if plan else 0,
            ),
            facts={
                "partitions_listed": decision.partitions_listed,
                "files_seen": decision.files_seen,
                "bytes_seen": decision.bytes_seen,
                "policy": plan.policy if plan else None,
                "earliest_to_retain": plan.earliest_to_retain if plan else None,
            },
            before=(policy,) if plan and plan.earliest_to_retain else (),
        )

    def run(self, engine: Engine) -> ServiceResult:
        done = HoodieTable.open(self.base_path, engine=engine).clean(self.options)
        planned = done.decision.plan
        deleted = f"{done.files_deleted} files removed; " if done.results else "nothing to do: "
        return ServiceResult(
            "clean",
            message=deleted + done.decision.reason,
            instant=done.results[-1].start if done.results else None,
            files_deleted=done.files_deleted,
            bytes_deleted=planned.bytes if planned else 0,
        )


def outlook(base_path: str, after_ingests: int) -> Outlook:
    """A clean is due when there are so many completed writes after the last completed one."""
    timeline = HoodieTable.open(base_path).timeline
    cleans = timeline.completed(Action.CLEAN)
    last = cleans[-1].time if cleans else ""
    commits = sum(commit.time > last for commit in timeline.commits)
    return Outlook(commits >= after_ingests, f"{commits} commits since the last clean; cleaned after {after_ingests}")
