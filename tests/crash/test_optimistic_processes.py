"""Processes that write one table at once, and are killed at random: acknowledged rows stay, in the order of completion."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.matrix import sample
from tests.support.random_writes import BY_COMMIT_TIME, PARTITIONS, committed, replay
from tests.support.rivals import QuickClock, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

ROOT = Path(__file__).resolve().parents[2]

_PROGRAM = """
import random, sys
sys.path[:0] = [{plugins!r}, {root!r}]
from tests.support.random_writes import step, WRITER
from tests.support.rivals import OCC, shared
from tests.support.tables import batch
from hoodie.errors import HoodieError
writer, number = int(sys.argv[1]), int(sys.argv[2])
rng, table = random.Random(writer * 977 + number), shared({path!r})
beats = {{"hoodie.client.heartbeat.interval_in_ms": 300, "hoodie.client.heartbeat.tolerable.misses": 4}}
while True:
    number += 1
    name = f"{{writer}}-{{number}}"
    operation, rows = step(rng, writer * 100000 + number)
    print("try", name, operation, ",".join(key for key, *_ in rows), rows[0][2], flush=True)
    try:
        table.write(batch(rows), operation, {{**OCC, **beats}}, extra_metadata={{WRITER: name}})
    except HoodieError as error:
        print("lost", name, type(error).__name__, flush=True)
    else:
        print("done", name, flush=True)
"""


@pytest.mark.parametrize("table_type", sample(("COPY_ON_WRITE", "MERGE_ON_READ"), 1))
def test_processes_that_are_killed_at_random(tmp_path, table_type):
    path = tmp_path / "t"
    create(path, QuickClock(), **{"hoodie.table.type": table_type, **BY_COMMIT_TIME})
    program = _PROGRAM.format(plugins=str(ROOT / "plugins"), root=str(ROOT), path=str(path))
    rng, said = random.Random(5), []

    def start(writer):
        said.append(tmp_path / f"out-{len(said)}")
        command = [sys.executable, "-c", program, str(writer), str(len(said) * 1000)]
        with said[-1].open("w") as out:
            return said[-1], subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)

    running = [start(writer) for writer in range(3)]
    for _ in range(4):
        victim = rng.randrange(3)
        out, process = running[victim]
        while "done" not in out.read_text():  # it is at work: started, and past its first write
            time.sleep(0.05)
            assert process.poll() is None, out.read_text()
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        running[victim] = start(victim)
    for _, process in running:
        process.send_signal(signal.SIGKILL)
        process.wait()
    steps, done = {}, set()
    for out in said:
        for line in out.read_text().splitlines():
            words = line.split()
            if words[:1] == ["try"]:
                number = int(words[4])
                entries = [(key, PARTITIONS[ord(key) % 2], number, number) for key in words[3].split(",")]
                steps[words[1]] = words[2], entries
            elif words[:1] == ["done"]:
                done.add(words[1])
            else:
                assert words[:1] == ["lost"], line
    table = shared(path)
    expected = replay(table, steps)
    assert done <= committed(table)
    assert len(done) >= 4
    assert content(table) == expected
    time.sleep(1.3)  # then the heartbeats of the dead have expired
    late = {"hoodie.client.heartbeat.interval_in_ms": 300, "hoodie.client.heartbeat.tolerable.misses": 4}
    table.write(batch([("z", "p", 1, 1)]), "upsert", {**SMALL_BLOOM, **late})
    assert content(table) == {**expected, "z": ("p", 1, 1)}
    assert table.timeline.pending == ()
