"""200 commits of 20 tables, 1,000 in the deep run, and watchers that are killed at random: each commit is an event, once."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter

import yaml

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.matrix import DEEP
from tests.support.rivals import QuickClock
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch

TABLES, COMMITS, WRITERS, WATCHERS = 20, 1000 if DEEP else 200, 2, 2
KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("9", "6")]
# Short timelines: much is archived between two looks.
SHORT = {
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": 1,
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 4,
}


def write(paths, commits):
    """One row for each commit, in tables that no other process writes to."""
    dice = random.Random(paths[0])
    tables = [HoodieTable.open(path, clock=QuickClock()) for path in paths]
    for number in range(commits):
        table = tables[number // 10 % len(tables)]  # some are archived before anybody looks
        table.write(batch([(dice.choice("abc"), "p", number, number)]), "upsert", {**SMALL_BLOOM, **SHORT})


def watch(registry, place):
    store = SnapshotStore.open(place)
    while True:
        Watcher(store, SystemClock()).round(read_registry(registry))
        time.sleep(0.1)  # the writers need the cores, too


def test_no_commit_is_missed_or_told_twice(tmp_path):
    paths = [str(tmp_path / f"t{number:02}") for number in range(TABLES)]
    for number, path in enumerate(paths):
        kind, version = KINDS[number % len(KINDS)]
        made = {**OPTIONS, "hoodie.table.type": kind, "hoodie.write.table.version": version}
        HoodieTable.create(path, made, batch([]).schema, clock=QuickClock())
    registry, place = tmp_path / "tables.yaml", str(tmp_path / "store.db")
    registry.write_text(yaml.safe_dump({"tables": [{"name": path[-3:], "base_path": path} for path in paths]}))
    store = SnapshotStore.open(place, make=True)
    Watcher(store, SystemClock()).round(read_registry(registry))

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hoodie.table", "pyarrow.parquet", "tests.load.test_watched"])
    share = [(paths[place::WRITERS], COMMITS // WRITERS) for place in range(WRITERS)]
    writers = [context.Process(target=write, args=each, daemon=True) for each in share]
    for writer in writers:
        writer.start()
    dice, kills, watchers = random.Random(5), 0, []
    begun = time.monotonic()
    while any(writer.exitcode is None for writer in writers):
        while len(watchers) < WATCHERS:
            watchers.append(context.Process(target=watch, args=(str(registry), place), daemon=True))
            watchers[-1].start()
        time.sleep(dice.uniform(0.0, 1.5))
        killed = watchers.pop(dice.randrange(WATCHERS))
        assert killed.exitcode is None, "a watcher ended by itself"
        killed.kill()
        kills += 1
    for watcher in watchers:
        watcher.kill()
        watcher.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    Watcher(store, SystemClock()).round(read_registry(registry))

    told = Counter((each.table, each.instant) for each in store.events(limit=10 * COMMITS) if "commit" in each.action)
    made = Counter()
    for path in paths:
        state = HoodieTable.open(path).state()
        instants = {(str(i.time), str(i.action)) for i in (*state.archive.instants(), *state.timeline.commits)}
        made.update((path[-3:], time) for time, action in instants if "commit" in action)
    print(f"\n{made.total()} commits of {TABLES} tables, {time.monotonic() - begun:.0f} s, {kills} kills")
    assert made.total() == COMMITS
    assert told == made
