"""The commits of one table on their way into Airflow, and how far they came, in the state of their asset."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from airflow.sdk import Asset
from airflow.sdk.execution_time.context import AssetStateStoreAccessors
from airflow.triggers.shared_stream import AdvanceItem, SharedStreamProducer

from hoodie.errors import StoreError
from hoodie_airflow.watcher_rounds import Rounds, join, leave
from hudi_services.operations.watch.commits import Reached, commits_after, facts_of, from_now_on
from hudi_services.operations.watch.model import Event
from hudi_services.operations.watch.store import SnapshotStore

_log = logging.getLogger(__name__)

REACHED = "reached"
"""The key of the asset's state."""
_AT_ONCE = 16  # events on their way: reported again if a triggerer is killed before it hears that they are stored


@dataclass
class PendingCommit:
    """A commit on its way; `passed_on` counts the triggers that have given Airflow an event of it."""

    event: Event
    passed_on: int = 0

    @property
    def payload(self) -> dict[str, Any]:
        return facts_of(self.event)


class NotStoredError(Exception):
    """Airflow did not store the event of a commit: the trigger begins again, and reports it again."""


class CommitStream(SharedStreamProducer):
    """The commits of one table, from the position in the state of its asset on."""

    def __init__(self, table: str, asset: Asset, registry: Path) -> None:
        self._table = table
        self._state = AssetStateStoreAccessors(inlets=[asset])
        self._registry = registry
        self._reached = Reached(0, "", "", datetime.now(UTC))
        self._rounds: Rounds | None = None
        self._unstored = 0
        self._stored = asyncio.Event()

    async def open_stream(self) -> AsyncIterator[tuple[PendingCommit, PendingCommit]]:
        self._rounds = join(self._registry)
        store = await self._rounds.after(0)
        await self._begin(store)
        while True:
            rounds_before = self._rounds.done
            while new := await self._new(store):
                self._unstored = len(new)
                self._stored.clear()
                for event in new:
                    commit = PendingCommit(event)
                    yield commit, commit
                await self._stored.wait()
            store = await self._rounds.after(rounds_before)

    async def aclose(self) -> None:
        if self._rounds is not None:
            await leave(self._rounds)

    async def advance(self, batch: Sequence[AdvanceItem]) -> None:
        """All of the batch is in Airflow's database. Raises NotStoredError where one is not."""
        reached = self._reached
        for commit, outcome in batch:
            if not outcome.is_clean or commit.passed_on != outcome.acked:
                await self._remember(reached)
                raise NotStoredError(
                    f"{commit.event.action} {commit.event.instant} of table {self._table} is reported again: {outcome}"
                )
            reached = reached.after(commit.event)
        await self._remember(reached)
        self._unstored -= len(batch)
        if not self._unstored:
            self._stored.set()

    async def _begin(self, store: SnapshotStore) -> None:
        stored = await self._state.aget(REACHED)
        if isinstance(stored, dict):
            self._reached = Reached.of(stored)
            return
        now = datetime.now(UTC)
        await self._remember(await asyncio.to_thread(from_now_on, store, self._table, now))

    async def _new(self, store: SnapshotStore) -> list[Event]:
        try:
            return await asyncio.to_thread(
                lambda: list(islice(commits_after(store, self._table, self._reached), _AT_ONCE))
            )
        except StoreError as error:
            _log.error("Commits of table %s wait for the next round: %s", self._table, error)
            return []

    async def _remember(self, reached: Reached) -> None:
        if reached is not self._reached:
            await self._state.aset(REACHED, reached.as_dict())
            self._reached = reached
