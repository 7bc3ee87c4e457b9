"""A call of a service, and what a service does with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # they load Arrow
    from hoodie.engine import Engine
    from hoodie.services.decision import Decision
    from hudi_services.entry.size_estimate import Work
    from hudi_services.runtime.result import ServiceResult


def _nobody(_line: str) -> None:
    """Print nothing: with JSON, the result is the only output."""


def _no(_question: str) -> bool:
    """Refuse, as there is no terminal on which a person could answer."""
    return False


@dataclass(frozen=True)
class Call:
    """A table, and the options as they were given; `tell` is for lines that people read while the service runs, `ask` for what
    a person has to agree to."""

    base_path: str
    options: Mapping[str, str]
    tell: Callable[[str], None] = _nobody
    ask: Callable[[str], bool] = _no


class Task(Protocol):
    """One call of a service. All methods raise HoodieError."""

    def explain(self, engine: Engine) -> Decision[Any]:
        """The decision that `run` would make now; changes nothing."""
        ...

    def run(self, engine: Engine) -> ServiceResult:
        """Do the work."""
        ...

    def work(self, engine: Engine) -> Work:
        """An estimate of the work that `run` would have now, made without reading a row."""
        ...


def carried_out(task: Task, engine: Engine) -> ServiceResult:
    """Runs a task. The result says how long it took, without the start of the engine, and what was put in order before."""
    from hoodie.transaction.recovery import recoveries

    start = time.monotonic()
    with recoveries() as recovered:
        result = task.run(engine)
    message = "; ".join([result.message, *recovered])
    return replace(result, message=message, recovered=tuple(recovered), seconds=time.monotonic() - start)
