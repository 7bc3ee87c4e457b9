"""Expiry of clusterings that are pending for too long: the next schedule unschedules them, so that no file group waits for ever.

As Hudi 1.2.0 does it with `hoodie.clustering.enable.expirations` when it rolls failed writes back: by the time at which a plan
was scheduled, and by the heartbeat of its writer. A process of ours that executes a plan also holds its lock, and is not
disturbed.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from hoodie.clock import Clock
from hoodie.config.key import resolve
from hoodie.config.keys.clustering import CLUSTERING_KEYS, EXPIRES, EXPIRES_AFTER
from hoodie.config.options import RawOptions
from hoodie.errors import LockHeldError, PendingInstantError, UnsupportedTableError
from hoodie.model.clustering import ClusteringPlan
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.clustering.unschedule import GiveUpClustering
from hoodie.services.decision import Decision
from hoodie.services.service import pending_plans, schedule
from hoodie.timeline import Instant, parse_time
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.view import TableState
from hoodie.view.access import TableAccess

_log = logging.getLogger(__name__)


def expired(state: TableState, raw_options: RawOptions, clock: Clock) -> list[Instant]:
    """Clusterings that were scheduled longer ago than `hoodie.clustering.expiration.threshold.mins` and have no living heartbeat,
    the oldest first; none without `hoodie.clustering.enable.expirations`. One storage call where one is old enough."""
    options = resolve(raw_options, CLUSTERING_KEYS)
    age = timedelta(minutes=options[EXPIRES_AFTER])
    plans = pending_plans(state, CLUSTERING) if options[EXPIRES] else []
    old = [plan for plan in plans if clock.now() - parse_time(plan.time, state.zone) >= age]
    if not old:
        return []
    beats = Heartbeats.of(state.storage, clock, ConcurrencyOptions.of(options).expiry_ms)
    return [plan for plan in old if not beats.alive(plan.time)]


def schedule_clustering(
    access: TableAccess, raw_options: RawOptions, *, force: bool = False, only: str | None = None
) -> tuple[Instant | None, Decision[ClusteringPlan], list[Instant]]:
    """As `schedule`, after the `expired` plans were unscheduled; the result lists them last.

    Safe to kill at any point. Raises what `schedule` raises.
    """
    given_up = []
    for plan in expired(access.state(), raw_options, access.clock):
        try:
            GiveUpClustering(plan.time).run(access, raw_options)
        except (LockHeldError, PendingInstantError) as error:  # another process executes it, or was faster
            _log.info("Clustering %s of table %s is not cancelled: %s", plan.time, access.storage.base_path, error)
        except UnsupportedTableError as error:  # Hudi resizes buckets
            _log.warning("Clustering %s of table %s stays: %s", plan.time, access.storage.base_path, error)
        else:
            given_up.append(plan)
    instant, decision = schedule(access, CLUSTERING, raw_options, force=force, only=only)
    return instant, decision, given_up
