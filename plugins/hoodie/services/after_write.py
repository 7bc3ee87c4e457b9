"""Services that the options of a write ask for: a compaction, a clean, a Hive sync, in this order, after its commit.

The commit stays whatever they do: a service that fails is told, in the log and in the result, and the others go on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hoodie.config import CLEAN_KEYS, COMPACTION_KEYS, SYNC_KEYS, Service, own_options, select_keys
from hoodie.config import after_write_keys as keys
from hoodie.config.key import ConfigKey, Options, resolve
from hoodie.config.own import SERVICE_KEYS
from hoodie.config.sync_keys import ENABLE
from hoodie.errors import ConfigError, HoodieError
from hoodie.model.outcome import ServiceOutcome
from hoodie.services.clean.execute import run_clean
from hoodie.services.compaction.execute import execute_compaction, schedule_compaction
from hoodie.services.log_compaction.execute import execute_log_compaction, schedule_log_compaction
from hoodie.services.rewrite.plan import CompactionDecision
from hoodie.services.rewrite.run import execute_waiting, pending_compactions
from hoodie.sync.run import run_sync
from hoodie.timeline import Action, Instant
from hoodie.view.access import TableAccess

_log = logging.getLogger(__name__)

Run = Callable[[TableAccess, Mapping[str, object]], tuple[str, str | None]]


@dataclass(frozen=True)
class Step:
    """A service that is to run. `run` gets the options under `keys`, and says what it did with which instant."""

    name: str
    service: Service
    keys: tuple[ConfigKey[Any], ...]
    run: Run
    counts: bool


@dataclass(frozen=True)
class AfterWrite:
    """The services that the options of a write ask for, in order, and the options that are meant for the write and for them."""

    options: Mapping[str, object]
    steps: tuple[Step, ...]

    @staticmethod
    def of(given: Mapping[str, object], *services: Service) -> AfterWrite:
        """From all options that were given to a write, and to `services` with it.

        Values are checked before anything is written. Raises ConfigError, also for what `own_options` refuses.
        """
        asked = resolve(select_keys(given, keys.AFTER_WRITE_KEYS), keys.AFTER_WRITE_KEYS)
        steps = tuple(_steps(asked))
        own = own_options(given, Service.WRITE, *services, *(step.service for step in steps))
        for checked in (
            *(SERVICE_KEYS[service] for service in (Service.WRITE, *services)),
            *(step.keys for step in steps),
        ):
            resolve(select_keys(own, checked), checked)
        return AfterWrite(own, steps)

    def run(self, access: TableAccess) -> tuple[ServiceOutcome, ...]:
        """Run the services one after the other. Raises nothing: what fails is told in the log and in its outcome."""
        return tuple(_outcome(step, access, select_keys(self.options, step.keys)) for step in self.steps)


def _steps(asked: Options) -> list[Step]:
    counts = asked[keys.FAIL_ON_SERVICE]
    steps = []
    if asked[keys.TABLE_SERVICES]:
        compact, schedule = asked[keys.COMPACT], asked[keys.SCHEDULE_COMPACTION]
        if compact and schedule:
            raise ConfigError(
                f"Options {keys.COMPACT.name} and {keys.SCHEDULE_COMPACTION.name} exclude each other",
                fix="the first also carries compactions out, the second leaves that to another process: keep one",
            )
        if compact:
            steps.append(Step("compact", Service.COMPACT, COMPACTION_KEYS, _compact, counts))
        elif schedule or asked[keys.ASYNC_COMPACTION]:
            steps.append(Step("compact", Service.COMPACT, COMPACTION_KEYS, _schedule, counts))
        if asked[keys.LOG_COMPACT]:
            steps.append(Step("log compact", Service.COMPACT, COMPACTION_KEYS, _log_compact, counts))
        beside = asked[keys.CLEAN_ASYNC]
        if asked[keys.CLEAN] or (beside and not asked.given(keys.CLEAN)):
            steps.append(Step("clean", Service.CLEAN, CLEAN_KEYS, _clean, counts and not beside))
    if asked[keys.META_SYNC] or (asked.given(ENABLE) and asked[ENABLE]):
        wanted = tuple(key for key in SYNC_KEYS if key is not ENABLE)  # whose default is for the command `sync`
        steps.append(Step("sync", Service.SYNC, wanted, _sync, counts and not asked[keys.IGNORE_SYNC_FAILURE]))
    return steps


def _outcome(step: Step, access: TableAccess, options: Mapping[str, object]) -> ServiceOutcome:
    try:
        message, instant = step.run(access, options)
    except Exception as error:  # noqa: BLE001 - whatever it is, the commit before it stands
        told = str(error) if isinstance(error, HoodieError) else f"{type(error).__name__}: {error}"
        _log.error(
            "What was committed stays; %s after it failed: %s",
            step.name,
            told,
            exc_info=not isinstance(error, HoodieError | OSError),
        )
        return ServiceOutcome(step.name, told, failed=True, counts=step.counts)
    _log.info("%s after the write: %s", step.name, message)
    return ServiceOutcome(step.name, message, instant)


def _compact(access: TableAccess, options: Mapping[str, object]) -> tuple[str, str | None]:
    return _compacted(access, options, schedule_compaction, execute_compaction, Action.COMPACTION)


def _log_compact(access: TableAccess, options: Mapping[str, object]) -> tuple[str, str | None]:
    return _compacted(access, options, schedule_log_compaction, execute_log_compaction, Action.LOG_COMPACTION)


def _compacted(
    access: TableAccess,
    options: Mapping[str, object],
    schedule: Callable[..., tuple[Instant | None, CompactionDecision]],
    execute: Callable[..., object],
    action: Action,
) -> tuple[str, str | None]:
    """Schedule one if it is due, and carry out all that wait."""
    if not _has_logs(access):
        return _NO_LOGS
    _, decision = schedule(access, options)
    state = access.state()
    waiting = [instant.time for instant in pending_compactions(state) if instant.action is action]

    def executed(time: str) -> str:
        execute(access, time, options)
        return time

    done = execute_waiting(access, waiting, executed)
    if not done:
        return decision.reason, None
    return f"executed {', '.join(done)}; {decision.reason}", done[-1]


def _schedule(access: TableAccess, options: Mapping[str, object]) -> tuple[str, str | None]:
    if not _has_logs(access):
        return _NO_LOGS
    instant, decision = schedule_compaction(access, options)
    if instant is None:
        return decision.reason, None
    return f"scheduled {instant.time}; {decision.reason}", instant.time


def _clean(access: TableAccess, options: Mapping[str, object]) -> tuple[str, str | None]:
    run = run_clean(access, options)
    if not run.results:
        return f"nothing to do: {run.decision.reason}", None
    return f"{run.files_deleted} files removed; {run.decision.reason}", run.results[-1].start


def _sync(access: TableAccess, options: Mapping[str, object]) -> tuple[str, str | None]:
    plan = run_sync(access.state(), options)
    return f"{len(plan.actions)} changes to the catalog; {plan.reason}", plan.instant if plan.actions else None


_NO_LOGS = ("nothing to do: a COPY_ON_WRITE table has no logs", None)


def _has_logs(access: TableAccess) -> bool:
    return access.state().properties.is_merge_on_read
