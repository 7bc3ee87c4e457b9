"""Reports to hooks after a round of the watcher."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hoodie.clock import Clock
from hudi_services.entry.alerts import Alerts, Hook
from hudi_services.operations.alerts.advice import standing_advice
from hudi_services.operations.alerts.conditions import BY_AIRFLOW, Observation, joined
from hudi_services.operations.alerts.digest import digest_day, digest_values
from hudi_services.operations.alerts.evaluation import by_tasks, standing_runs, standing_tables
from hudi_services.operations.alerts.lag import standing_streams
from hudi_services.operations.alerts.ledger import Delivery, due, noticed
from hudi_services.operations.alerts.message import body_of, values_of
from hudi_services.operations.alerts.send import send_all
from hudi_services.operations.alerts.server_lag import standing_servers
from hudi_services.operations.alerts.store import AlertStore
from hudi_services.operations.alerts.topic_lag import standing_topics
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry

_SERVERS_EVERY = timedelta(minutes=1)  # their state is in files of a storage
_RUNS_EVERY = timedelta(minutes=5)  # histories are tables, and are read no more often
_CLAIM = timedelta(minutes=2)  # longer than sending takes

_log = logging.getLogger(__name__)


@dataclass
class AlertSender:
    """Reports the alerts of one watcher. `environ` has the secrets.

    The watcher that has reported goes on with it. If watchers took turns, each would report by what it saw at another
    time, and a trouble that one has ended would begin again with the other. Another one takes over once this one
    leaves, or misses its rounds.
    """

    store: SnapshotStore
    clock: Clock
    environ: Mapping[str, str]
    _name: str = field(default_factory=lambda: uuid.uuid4().hex)
    _runs: tuple[datetime, Observation] | None = None
    _servers: tuple[datetime, Observation] | None = None

    def tell(self, registry: Registry) -> int:
        """Report to all hooks what is due, and return how many have taken it. A message that a hook does not take is in
        the log, and due again with the next round. Raises StoreError."""
        alerts = registry.alerts
        if alerts is None:
            return 0
        now = self.clock.now()
        alert_store, lasts = AlertStore.open(self.store), _CLAIM + 2 * timedelta(seconds=registry.watch.every)
        if not alert_store.claim(self._name, now, lasts):
            self._runs = self._servers = None  # the other one may report newer ones before this one takes over
            return 0
        looks = (
            standing_tables(alerts, self.store, now),
            standing_advice(alerts, registry, self.store, now),
            standing_streams(alerts, registry, self.store, now),
            self._seen_servers(alerts, registry, now),
            standing_topics(alerts, registry, self.store, now),
            self._seen_runs(alerts, registry, now),
            by_tasks(alerts, registry),
        )
        observation = joined(looks)
        if not alert_store.claim(self._name, self.clock.now(), lasts):  # reading histories has taken too long
            return 0
        return self._tell(alerts, alert_store, observation, now) + self._sum_up(alerts, alert_store, observation, now)

    def tell_kept(self, registry: Registry) -> int:
        """Report what tasks have kept, and look at nothing. A watcher that reports does this itself, and so does
        another task that reports: it looks again for what was kept in the meantime. Raises StoreError."""
        alerts, now, sent = registry.alerts, self.clock.now(), 0
        if alerts is None:
            return 0
        alert_store, tried = AlertStore.open(self.store), set[Delivery]()
        while (undelivered := _by_airflow(alert_store, alerts, now) - tried) and alert_store.claim(
            self._name, now, _CLAIM
        ):
            try:
                sent += self._send(alerts, alert_store, sorted(undelivered, key=lambda row: row.seen_at), now)
            finally:
                alert_store.release(self._name)
            tried |= undelivered
        return sent

    def leave(self) -> None:
        """Let another one report. Raises StoreError."""
        AlertStore.open(self.store).release(self._name)

    def _tell(self, alerts: Alerts, alert_store: AlertStore, observation: Observation, now: datetime) -> int:
        before = alert_store.rows()
        names = [hook.name for hook in alerts.hooks]
        rows = noticed(before, observation, names, now)
        known = set(before)
        alert_store.save([row for row in rows if row not in known], [row for row in before if row.hook not in names])
        return self._send(alerts, alert_store, rows, now)

    def _send(self, alerts: Alerts, alert_store: AlertStore, rows: Sequence[Delivery], now: datetime) -> int:
        outgoing = {hook: reports for hook in alerts.hooks if (reports := due(rows, hook.name, alerts.repeat, now))}
        bodies = [body_of(hook, values_of(reports, now)) for hook, reports in outgoing.items()]
        return self._sent(list(outgoing), bodies, lambda hook: alert_store.delivered(outgoing[hook], now))

    def _sum_up(self, alerts: Alerts, alert_store: AlertStore, observation: Observation, now: datetime) -> int:
        """Send the digest where it is due; a hook that is new waits for the next one, also where its last one was of a clock
        that was ahead."""
        if alerts.digest_at is None:
            return 0
        day = digest_day(alerts.digest_at, alerts.zone, now)
        late: list[Hook] = []
        for hook in alerts.hooks:
            last = alert_store.digest(hook.name)
            if last is None or last > day + timedelta(days=1):
                alert_store.save_digest(hook.name, day)
            elif day > last:
                late.append(hook)
        if not late:
            return 0
        values = digest_values(day, self.store.fleet(), observation.troubles, now)
        return self._sent(
            late, [body_of(hook, values) for hook in late], lambda hook: alert_store.save_digest(hook.name, day)
        )

    def _sent(self, hooks: Sequence[Hook], bodies: Sequence[bytes], on_delivery: Callable[[Hook], None]) -> int:
        answers = send_all(list(zip(hooks, bodies, strict=True)), self.environ)
        for hook, wrong in zip(hooks, answers, strict=True):
            if wrong is None:
                on_delivery(hook)
            else:
                _log.warning("Alerts: hook %s has not accepted the message, and is tried again: %s", hook.name, wrong)
        return answers.count(None)

    def _seen_servers(self, alerts: Alerts, registry: Registry, now: datetime) -> Observation:
        if self._servers is None or abs(now - self._servers[0]) >= _SERVERS_EVERY:
            self._servers = now, standing_servers(alerts, registry, now)
        return self._servers[1]

    def _seen_runs(self, alerts: Alerts, registry: Registry, now: datetime) -> Observation:
        if self._runs is None or abs(now - self._runs[0]) >= _RUNS_EVERY:
            self._runs = now, standing_runs(alerts, registry, now)
        return self._runs[1]


def _by_airflow(alert_store: AlertStore, alerts: Alerts, now: datetime) -> set[Delivery]:
    """Reports of Airflow that are still due to hooks."""
    rows = [row for row in alert_store.rows() if row.trouble.kind in BY_AIRFLOW]
    return {notice.delivery for hook in alerts.hooks for notice in due(rows, hook.name, alerts.repeat, now)}
