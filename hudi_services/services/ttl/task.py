"""Drops the partitions of a table that have outlived their time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.errors import DeleteCapError
from hoodie.services.decision import Decision
from hoodie.services.ttl.plan import TtlPlan
from hoodie.services.ttl.service import TTL, Ttl
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class TtlTask:
    """The TTL of the table at `base_path`; `options` are its own.

    A plan that drops more than a run may without approval needs `agreed` to be its digest. If it is not, the task calls
    `ask`. With `only` it carries out the plan of this digest and no other.
    """

    base_path: str
    options: Mapping[str, object]
    agreed: str | None = None
    only: str | None = None
    ask: Callable[[str], bool] = lambda _question: False

    def explain(self, engine: Engine) -> Decision[TtlPlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(TTL, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        try:
            result = table.run(Ttl(self.agreed, self.only), self.options)
        except DeleteCapError as error:
            if not self.ask(f"{error.what}: {error.found}. Drop them?"):
                raise
            result = table.run(Ttl(error.digest, self.only), self.options)
        message, instant = TTL.report(result)
        blockers = tuple(blocker.as_dict() for blocker in result.decision.blockers)
        return ServiceResult("ttl", message, instant, blockers=blockers)

    def work(self, engine: Engine) -> Work:
        return Work(0, "file groups are taken out of the table, no row is read")
