"""Services that the options of a write ask for: a compaction, a clustering, the TTL of partitions, a clean, an archival, a Hive
sync, in this order, after its commit.

The commit stays in any case: a service that fails is reported in the log and in the result, and the others go on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hoodie.config import select_keys
from hoodie.config.groups import WRITE_OPTIONS, OptionGroup
from hoodie.config.key import ConfigKey, Options, RawOptions, resolve
from hoodie.config.keys import inline as keys
from hoodie.config.keys.clustering import MAX_COMMITS
from hoodie.config.keys.lock import WAIT_MS
from hoodie.config.keys.sync import ENABLE
from hoodie.config.options import options_for
from hoodie.errors import ConfigError, HoodieError, LockHeldError
from hoodie.model.outcome import ServiceOutcome
from hoodie.services.archive.plan import checked
from hoodie.services.archive.service import ARCHIVE
from hoodie.services.clean.service import CLEAN
from hoodie.services.clustering.expire import schedule_clustering
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.log_compaction.service import LOG_COMPACTION
from hoodie.services.service import Decides, Scheduled, Service, execute_waiting, pending_plans, schedule
from hoodie.services.sync import SYNC
from hoodie.services.ttl.service import TTL
from hoodie.view.access import TableAccess

_log = logging.getLogger(__name__)

_SHORT_WAIT_MS = 5000  # for another's lock, of what the next write can do as well

StepReport = tuple[str, str | None]
"""The message, and the instant; None when there was nothing to do."""


@dataclass(frozen=True)
class Step:
    """A service that is to run. `act` gets those options that `keys` name; `counts`: the caller has to handle a failure.

    `check` raises ConfigError for options that contradict each other. A `quiet` service was not asked for: it is reported only
    when it did something or failed. One that `yields` waits for another's lock for a moment only, and is then left to the next
    write.
    """

    service: Decides[Any]
    act: Callable[[TableAccess, Options], StepReport]
    keys: tuple[ConfigKey[Any], ...]
    counts: bool
    check: Callable[[Options], object] = bool
    quiet: bool = False
    yields: bool = False

    @property
    def name(self) -> str:
        return self.service.name


def at_once(service: Service[Any, Any], *, counts: bool, without: Sequence[ConfigKey[Any]] = ()) -> Step:
    """A service runs; `without` are options that it does not take from those of a write."""

    def act(access: TableAccess, options: Options) -> StepReport:
        return service.report(service.run(access, options))

    return Step(service, act, tuple(key for key in service.options.keys if key not in without), counts)


def scheduled(service: Scheduled[Any, Any], *, counts: bool) -> Step:
    """A plan is put on the timeline if one is due: another process carries it out."""

    def act(access: TableAccess, options: Options) -> StepReport:
        instant, decision = schedule(access, service, options)
        if instant is None:
            return decision.summary, None
        return f"scheduled {instant.time}; {decision.summary}", instant.time

    return Step(service, act, service.options.keys, counts)


def _schedule_clustering(access: TableAccess, options: Options) -> StepReport:
    instant, decision, expired = schedule_clustering(access, options)
    expiry = "".join(f"gave {plan.time} up, which no run has executed; " for plan in expired)
    if instant is None:
        return f"{expiry}{decision.summary}", None
    return f"{expiry}scheduled {instant.time}; {decision.summary}", instant.time


def scheduled_and_executed(service: Scheduled[Any, Any], *, counts: bool) -> Step:
    """A plan is put on the timeline if one is due, and all of this service that wait are carried out."""

    def act(access: TableAccess, options: Options) -> StepReport:
        _, decision = schedule(access, service, options)
        executed = list(execute_waiting(access, pending_plans(access.state(), service), [service], options))
        if not executed:
            return decision.summary, None
        return f"executed {', '.join(executed)}; {decision.reason}", executed[-1]

    return Step(service, act, service.options.keys, counts)


def of_logs(step: Step) -> Step:
    """The step for tables that have logs; nothing to do for others."""

    def act(access: TableAccess, options: Options) -> StepReport:
        if not access.state().properties.is_merge_on_read:
            return "nothing to do: a COPY_ON_WRITE table has no logs", None
        return step.act(access, options)

    return replace(step, act=act)


def _inline(step: Step) -> Step:
    """A clustering that a write carries out is due by an option of its own."""

    def act(access: TableAccess, options: Options) -> StepReport:
        return step.act(access, options.among(step.keys).with_value(MAX_COMMITS, options[keys.CLUSTER_AFTER]))

    others = tuple(key for key in step.keys if key is not MAX_COMMITS)
    return replace(step, act=act, keys=(*others, keys.CLUSTER_AFTER))


@dataclass(frozen=True)
class InlineServices:
    """The services that the options of a write ask for, in order, and the options that are meant for the write and for them."""

    options: Options
    steps: tuple[Step, ...]

    @staticmethod
    def of(raw_options: RawOptions | None, *groups: OptionGroup) -> InlineServices:
        """The steps, from all options of a write and of the service that takes `groups` with it. Resolves the options once, here.

        Values are checked before anything is written. Raises ConfigError, also for what `own_options` refuses.
        """
        raw_options = {} if raw_options is None else raw_options
        resolved = resolve(select_keys(raw_options, keys.INLINE_KEYS), keys.INLINE_KEYS)
        steps = tuple(_steps(resolved))
        options = options_for(raw_options, WRITE_OPTIONS, *groups, *(step.service.options for step in steps))
        for step in steps:
            step.check(options.among(step.keys))
        return InlineServices(options, steps)

    def run(self, access: TableAccess) -> tuple[ServiceOutcome, ...]:
        """Run the services one after the other. Raises nothing: a failure is reported in the log and in its outcome."""
        outcomes = ((step, _outcome(step, access, select_keys(self.options, step.keys))) for step in self.steps)
        return tuple(outcome for step, outcome in outcomes if outcome is not None)


def _steps(options: Options) -> list[Step]:
    counts = options[keys.FAIL_ON_SERVICE]
    steps = []
    if options[keys.TABLE_SERVICES]:
        compact, only_plan = _one_of(options, keys.COMPACT, keys.SCHEDULE_COMPACTION)
        if compact:
            steps.append(of_logs(scheduled_and_executed(COMPACTION, counts=counts)))
        elif only_plan or options[keys.ASYNC_COMPACTION]:
            steps.append(of_logs(scheduled(COMPACTION, counts=counts)))
        if options[keys.LOG_COMPACT]:
            steps.append(of_logs(scheduled_and_executed(LOG_COMPACTION, counts=counts)))
        cluster, only_plan = _one_of(options, keys.CLUSTER, keys.SCHEDULE_CLUSTERING)
        if cluster:
            steps.append(_inline(scheduled_and_executed(CLUSTERING, counts=counts)))
        elif only_plan or options[keys.ASYNC_CLUSTERING]:
            steps.append(replace(scheduled(CLUSTERING, counts=counts), act=_schedule_clustering))
        if options[keys.TTL]:
            steps.append(at_once(TTL, counts=counts))
        beside = options[keys.CLEAN_ASYNC]
        if options[keys.CLEAN] or (beside and not options.is_set(keys.CLEAN)):
            steps.append(replace(at_once(CLEAN, counts=counts and not beside), yields=True))
        if options[keys.ARCHIVE]:
            counts_too = counts and options[keys.FAIL_ON_ARCHIVE] and not options[keys.ARCHIVE_ASYNC]
            steps.append(replace(at_once(ARCHIVE, counts=counts_too), check=checked, quiet=True, yields=True))
    if options[keys.META_SYNC] or (options.is_set(ENABLE) and options[ENABLE]):
        counts = counts and not options[keys.IGNORE_SYNC_FAILURE]
        steps.append(at_once(SYNC, counts=counts, without=[ENABLE]))  # whose default is for the command `sync`
    return steps


def _one_of(options: Options, carried_out: ConfigKey[bool], planned: ConfigKey[bool]) -> tuple[bool, bool]:
    """Raises ConfigError where both are asked for."""
    if options[carried_out] and options[planned]:
        raise ConfigError(
            f"Options {carried_out.name} and {planned.name} exclude each other",
            fix="the first also carries plans out, the second leaves that to another process: keep one",
        )
    return options[carried_out], options[planned]


def _outcome(step: Step, access: TableAccess, options: Options) -> ServiceOutcome | None:
    """The outcome of a step; None when there is nothing to report."""
    try:
        message, instant = step.act(access, _waiting_shortly(options) if step.yields else options)
    except Exception as error:  # noqa: BLE001 - the commit before it stays after any error
        reason = str(error) if isinstance(error, HoodieError) else f"{type(error).__name__}: {error}"
        if step.yields and isinstance(error, LockHeldError):
            _log.warning("The commit stays; %s after it is left to the next write: %s", step.name, reason)
            return ServiceOutcome(step.name, f"left to the next write: {reason}")
        _log.error(
            "The commit stays; %s after it failed: %s",
            step.name,
            reason,
            exc_info=not isinstance(error, HoodieError | OSError),
        )
        return ServiceOutcome(step.name, reason, failed=True, counts=step.counts)
    if instant is None and step.quiet:
        return None
    _log.info("%s after the write: %s", step.name, message)
    return ServiceOutcome(step.name, message, instant)


def _waiting_shortly(options: Options) -> Options:
    return options.with_value(WAIT_MS, min(options[WAIT_MS], _SHORT_WAIT_MS))
