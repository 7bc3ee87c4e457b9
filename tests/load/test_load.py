"""8 writers, 2 services and 2 readers of 4 tables, killed at random: the tables are what the acknowledged writes add up to."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter

from hoodie import CLEAN, COMPACTION, HoodieTable
from tests.kills.recovery import nothing_left
from tests.load.actors import DEAD_AFTER_SECONDS, Loaded, lines, read, rows_of, serve, write
from tests.support.matrix import DEEP
from tests.support.random_writes import WRITER, all_commits
from tests.support.rivals import QuickClock
from tests.support.tables import OPTIONS, batch, content

SECONDS = float(os.environ.get("SECONDS") or (40 if DEEP else 10))
# Errors that a process may see when it meets others. A reader may meet a clean.
TOLD = {"WriteConflictError", "LockHeldError", "LockLostError", "PendingInstantError", "MissingFileError"}
ACTORS = [write] * 8 + [serve] * 2 + [read] * 2


def test_nothing_is_lost_under_load(tmp_path):
    tables = [
        Loaded(str(tmp_path / f"{kind}-{version}"), kind, version, leased)
        for kind, version, leased in [
            ("COPY_ON_WRITE", "9", False),
            ("MERGE_ON_READ", "9", True),
            ("COPY_ON_WRITE", "6", True),
            ("MERGE_ON_READ", "6", False),
        ]
    ]
    for loaded in tables:
        made = {"hoodie.table.type": loaded.kind, "hoodie.write.table.version": loaded.version}
        made["hoodie.record.merge.mode"] = "COMMIT_TIME_ORDERING"
        HoodieTable.create(loaded.path, {**OPTIONS, **made}, batch([]).schema, clock=QuickClock())
    logs = tmp_path / "logs"
    logs.mkdir()
    kills = _run(tables, logs)
    time.sleep(DEAD_AFTER_SECONDS + 1)

    tries, told, sights = {}, {}, []
    for line in lines(logs):
        if line["did"] == "try":
            tries[line["number"]] = line
        elif line["did"] == "read":
            sights.append(line)
        elif "number" in line:
            told[line["number"]] = line
    for loaded in tables:
        _check(loaded, tries, told, [sight["rows"] for sight in sights if sight["table"] == loaded.path])
    did = Counter(line["did"] for line in lines(logs))
    errors = Counter(line["error"] for line in lines(logs) if "error" in line)
    killed = {actor.__name__: count for actor, count in kills.items()}
    print(f"\n{SECONDS:.0f} s, kills: {killed}; {dict(did)}; told: {dict(errors)}")
    strange = [line["trace"] for line in lines(logs) if "error" in line and line["error"] not in TOLD]
    assert not strange, "\n\n".join(strange)


def _run(tables, logs):
    """Start all, and kill one or the other until the time is over; another one takes its place. Gives the kills by kind."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hoodie.table", "pyarrow.parquet", "tests.load.actors"])
    dice, started = random.Random(3), 0
    running, killed = {}, Counter()

    def start(place):
        nonlocal started
        started += 1
        arguments = (tables, logs / f"{started:04}", started)
        running[place] = context.Process(target=ACTORS[place], args=arguments, daemon=True)
        running[place].start()

    for place in range(len(ACTORS)):
        start(place)
    while len([*logs.iterdir()]) < len(ACTORS):  # all are there
        time.sleep(0.1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or not _enough(logs, killed):
        time.sleep(dice.uniform(0.2, 2.0))
        place = dice.randrange(len(ACTORS))
        assert running[place].exitcode is None, f"{ACTORS[place].__name__} ended by itself: {running[place].exitcode}"
        running[place].kill()
        running[place].join()
        killed[ACTORS[place]] += 1
        start(place)
    for process in running.values():
        process.kill()
        process.join()
    return killed


def _enough(logs, killed):
    """So much was done, and processes of all kinds were killed, that it proves something on a busy machine, too."""
    did = Counter(line["did"] for line in lines(logs))
    done = did["done"] >= 20 and did["read"] >= 5 and did["served"] >= 3
    return done and killed[write] >= 8 and killed[serve] >= 2 and killed[read] >= 2


def _check(loaded, tries, told, sights):
    table = loaded.open()
    state = table.state()
    order = []
    for instant in sorted(all_commits(state), key=lambda each: each.completion_time):
        number = state.commit_metadata(instant).extra.get(WRITER)
        order += [int(number)] if number is not None else []
    assert len(set(order)) == len(order), "a write was committed twice"
    mine = {number for number, line in tries.items() if line["table"] == loaded.path}
    assert {number for number in mine if told.get(number, {}).get("did") == "done"} <= set(order), (
        "acknowledged, and lost"
    )
    assert not {number for number in order if told.get(number, {}).get("did") == "lost"}, "refused, and there"

    states = [{}]
    for number in order:
        rows = dict(states[-1])
        for key, _, _, value in rows_of(tries[number]["keys"], number):
            rows.pop(key, None) if tries[number]["operation"] == "delete" else rows.update({key: value})
        states.append(rows)
    seen = {frozenset(rows.items()) for rows in states}
    for sight in sights:
        assert len(dict(sight)) == len(sight), "a reader saw a key twice"
        assert frozenset(dict(sight).items()) in seen, f"a reader saw what was never there: {sight}"
    expected = {key: (part, ts, value) for key, value in states[-1].items() for _, part, ts, _ in rows_of([key], 0)}
    assert content(table) == expected

    table.write(batch(rows_of(["z0"], 1)), "upsert", loaded.options)  # what the last ones left goes
    if loaded.kind == "MERGE_ON_READ":
        table.run(COMPACTION, loaded.options)
    table.run(CLEAN, loaded.options)  # ends what a cleaner has left
    assert content(table) == {**expected, "z0": ("p", 1, 1)}
    assert nothing_left(table) == []
