"""Removing the plan of a service from the timeline, after what was begun of it is rolled back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hoodie.config.key import Options
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.timeline import Instant, State
from hoodie.transaction.concurrency import plan_lock
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.rollback import drop, roll_back_instant
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess

D = TypeVar("D", bound=Decision[Any])


def remove_plan(
    access: TableAccess, time: Time, options: Options, name: str, decide: Callable[[TableState], tuple[Instant, D]]
) -> D:
    """Remove the plan that waits at `time` and return the decision of `decide`, which also checks whether the plan may go.

    Safe to kill at any point, and to repeat: the plan goes last. Raises what `decide` raises, and LockHeldError, also while
    another process carries the plan out.
    """
    locking, sharing = Locking.of(options), ConcurrencyOptions.of(options)
    begin = transaction(access.storage, access.clock, name, locking, sharing)
    with plan_lock(access.storage, access.clock, time, locking), begin as tx:
        instant, decision = decide(tx.state)
        if instant.state is State.INFLIGHT:
            roll_back_instant(tx.state, instant, access.clock)
        drop(tx.state, time, instant.action)
        return decision
