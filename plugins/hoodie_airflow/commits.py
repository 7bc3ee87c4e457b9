"""Commits of a table by any writer as events of an asset: `schedule=[commits_asset("orders")]` starts a DAG by them.

Each event's payload is what `hudi-services watch --json` prints of the commit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from typing import Any

from airflow.sdk import Asset, AssetWatcher
from airflow.triggers.base import BaseEventTrigger, TriggerEvent
from airflow.triggers.shared_stream import SharedStreamProducer

from hoodie.errors import ConfigError
from hoodie_airflow.paths import registry_file
from hudi_services.registry.load import read_registry


class CommitsTrigger(BaseEventTrigger):
    """One event for each commit, in the triggerer. The position of a table is in Airflow's state of its asset, and
    moves on once Airflow has stored the event: a triggerer that ends at any moment misses none."""

    def __init__(self, table: str) -> None:
        super().__init__()
        self.table = table

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.{type(self).__name__}", {"table": self.table}

    def shared_stream_key(self) -> Hashable:
        """A stream for each table. With a common one late subscribers would miss earlier events."""
        return (__name__, self.table)

    @classmethod
    def create_shared_stream_producer(cls, kwargs: dict[str, Any]) -> SharedStreamProducer:
        # Files of DAGs import this module, and need nothing of the store.
        from hoodie_airflow.commit_stream import CommitStream

        name = str(kwargs["table"])
        return CommitStream(name, _asset(name), registry_file())

    async def filter_shared_stream(self, shared_stream: AsyncIterator[Any]) -> AsyncIterator[TriggerEvent]:
        async for commit in shared_stream:
            yield TriggerEvent(commit.payload)
            # Only a trigger that was not ended before it passed the event on comes back here.
            commit.passed_on += 1

    def run(self) -> AsyncIterator[TriggerEvent]:
        """Airflow takes events by `filter_shared_stream`, as there is a key."""
        raise NotImplementedError(f"{type(self).__name__} needs Airflow 3.3 or later, which shares streams of triggers")


def commits_asset(table: str) -> Asset:
    """The asset whose events are the commits of a table of the registry, from when a DAG that waits for it is first switched on.

    Raises ConfigError for a table that the registry does not have, unless mistakes in it may be what keeps the table out.
    """
    file = registry_file()
    reading = read_registry(file, only=table)
    if reading.registry.table(table) is None and not reading.mistakes:
        raise ConfigError(
            f"There is no table {table!r} whose commits could start a DAG",
            found=f"the registry {file} does not have it",
            fix="name a table of the registry; `hudi-services registry check` lists them",
        )
    return watched_asset(table)


def watched_asset(table: str) -> Asset:
    """The same for a table that the registry has."""
    plain = _asset(table)
    return Asset(
        name=plain.name, uri=plain.uri, group="hudi", watchers=[AssetWatcher(plain.name, CommitsTrigger(table))]
    )


def _asset(table: str) -> Asset:
    return Asset(name=f"hudi.{table}.commits", uri=f"hudi://tables/{table}/commits")
