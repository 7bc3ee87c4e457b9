"""Writers at random: the table is what the acknowledged writes make of it, one by one in the order of their completion."""

from __future__ import annotations

import random
import threading

import pytest

from hoodie.errors import LockHeldError, WriteConflictError
from hoodie.timeline import WRITE_ACTIONS
from tests.support.examples import fixed_seeds
from tests.support.random_writes import BY_COMMIT_TIME, WRITER, committed, replay, step
from tests.support.rivals import OCC, QuickClock, shared
from tests.support.tables import batch, content, create

pytestmark = pytest.mark.histories


def test_the_table_is_the_replay_of_the_acknowledged_writes(tmp_path, seed):
    version = "9" if seed % 4 < 3 else "6"
    table_type = "MERGE_ON_READ" if seed % 2 else "COPY_ON_WRITE"
    by_commit_time = {
        "hoodie.write.table.version": version,
        "hoodie.table.type": table_type,
        **BY_COMMIT_TIME,
    }
    create(tmp_path / "t", QuickClock(), **by_commit_time)
    steps, acknowledged, lost = {}, set(), []
    options = {
        **OCC,
        "hoodie.write.num.retries.on.conflict.failures": seed % 3,
        "hoodie.parquet.small.file.limit": 0 if seed % 5 else 100_000_000,
        "hoodie.compact.inline": str(table_type == "MERGE_ON_READ").lower(),
        "hoodie.compact.inline.max.delta.commits": 3,
        "hoodie.clean.automatic": "true",
        "hoodie.clean.commits.retained": 2,
    }

    def work(writer):
        rng, table = random.Random(seed * 10 + writer), shared(tmp_path / "t")
        for number in range(5):
            name = f"{writer}-{number}"
            steps[name] = operation, rows = step(rng, writer * 1000 + number)
            try:
                result = table.write(batch(rows), operation, options, extra_metadata={WRITER: name})
            except (WriteConflictError, LockHeldError) as error:
                lost.append(error)
            else:
                acknowledged.add(name)
                assert not any(outcome.failed for outcome in result.services), result.services

    failures = []

    def guarded(writer):
        try:
            work(writer)
        except BaseException as error:  # noqa: BLE001 - the test's thread reports it
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(writer,)) for writer in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    table = shared(tmp_path / "t")
    assert committed(table) == acknowledged
    assert content(table) == replay(table, steps), f"{len(acknowledged)} acknowledged, {len(lost)} lost"
    pending = [instant for instant in table.timeline.pending if instant.action in WRITE_ACTIONS]
    assert pending == []


@pytest.fixture(params=fixed_seeds(6))
def seed(request):
    return request.param
