"""The plan of a server as its last run had it, in the server's folder of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from hoodie.storage import Storage
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.file_sequence import FileSequence
from hudi_services.sources.databases.plan import DatabasePlan, Refusal

_KEPT = 20


@dataclass(frozen=True)
class StoredPlan:
    """Rules, base paths by the names of sources, and the tables that are refused. Number 0 is stored nowhere."""

    number: int = 0
    rules: tuple[DatabaseRule, ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()

    def followed_by(self, rules: tuple[DatabaseRule, ...], plan: DatabasePlan) -> StoredPlan:
        """Return what is stored of the next plan. Tables that were loaded before and are refused keep their paths."""
        refused = {refusal.source for refusal in plan.refusals}
        paths = {name: path for name, path in self.paths.items() if name in refused} | plan.paths
        return StoredPlan(self.number + 1, rules, paths, plan.refusals)

    def accepting(self, plan: DatabasePlan) -> StoredPlan:
        """Return this plan without the tables that have another path by `plan`, or none: the next plan is free to do so."""
        changed = {refusal.source for refusal in plan.refusals if refusal.kind in ("moved", "left")}
        paths = {name: path for name, path in self.paths.items() if name not in changed}
        return StoredPlan(self.number, self.rules, paths, self.refusals)

    def is_like(self, other: StoredPlan) -> bool:
        """Return True where both say the same."""
        return (self.rules, self.paths, self.refusals) == (other.rules, other.paths, other.refusals)


@dataclass(frozen=True)
class PlanStore:
    """The plans of the server `server` in a folder."""

    storage: Storage
    server: str

    def latest(self) -> StoredPlan:
        """Return the newest plan, an empty one where there is none. Raises CorruptTableError for one that cannot be read."""
        newest = self._files.latest()
        if newest is None:
            return StoredPlan()
        number, body = newest
        try:
            rules = tuple(DatabaseRule.model_validate(rule) for rule in body["rules"])
            refusals = tuple(Refusal(**refusal) for refusal in body["refusals"])
            return StoredPlan(number, rules, {str(name): str(path) for name, path in body["paths"].items()}, refusals)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._files.unreadable(number, error) from error

    def put(self, plan: StoredPlan) -> None:
        """Store a plan. Raises PendingInstantError where another process stored this number."""
        document = {
            "rules": [rule.model_dump(mode="json", exclude_defaults=True) for rule in plan.rules],
            "paths": dict(plan.paths),
            "refusals": [asdict(refusal) for refusal in plan.refusals],
        }
        self._files.put(plan.number, document)

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "plans", _KEPT, "plan")
