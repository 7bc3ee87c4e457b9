"""Two archivers and a writer in processes of their own, killed at random: no instant is lost, none is stored twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from hoodie import ARCHIVE, HoodieTable
from tests.crash.test_archive import SHORTER, every, stored
from tests.support.matrix import sample
from tests.support.rivals import QuickClock, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = """
import sys
sys.path[:0] = [{plugins!r}, {root!r}]
from hoodie import ARCHIVE
from hoodie.errors import HoodieError
from tests.crash.test_archive import SHORT
from tests.support.rivals import shared
from tests.support.tables import SMALL_BLOOM, batch
table, number = shared({path!r}), int(sys.argv[2])
while True:
    number += 1
    try:
        if sys.argv[1] == "archive":
            print("did", table.run(ARCHIVE, SHORT).instants, flush=True)
        else:
            row = (f"k{{number}}", "p", 1, number)
            done = table.write(batch([row]), "insert", {{**SMALL_BLOOM, "hoodie.archive.automatic": "false"}})
            print("did", done.instant.time, f"k{{number}}", flush=True)
    except HoodieError as error:
        print("lost", type(error).__name__, error, flush=True)
"""


def written(outputs):
    """The keys of which a writer says that they are written, with their instants."""
    lines = [line.split() for out in outputs for line in out.read_text().split("\n")[:-1]]
    return {words[2]: words[1] for words in lines if words[:1] == ["did"] and len(words) == 3}


def _did(out, process):
    assert process.poll() is None, out.read_text()
    return "did" in out.read_text()


@pytest.mark.parametrize("version", sample(["9", "6"], 0))
def test_archivers_at_once_that_are_killed(tmp_path, version):
    create(tmp_path / "t", QuickClock(), **{"hoodie.write.table.version": version})
    program = _PROGRAM.format(plugins=str(ROOT / "plugins"), root=str(ROOT), path=str(tmp_path / "t"))
    rng, outputs = random.Random(int(version)), []

    def start(role):
        out = tmp_path / f"out-{len(outputs)}"
        outputs.append(out)
        command = [sys.executable, "-c", program, role, str(len(outputs) * 1000)]
        with out.open("w") as sink:
            return out, subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL)

    running = [start(role) for role in ("archive", "archive", "write")]
    for turn in range(4):
        victim = (0, 1, 0, 2)[turn]
        out, process = running[victim]
        until(partial(_did, out, process), out.read_text)
        time.sleep(rng.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        running[victim] = start("write" if victim == 2 else "archive")
    until(lambda: len(written(outputs)) >= 4, lambda: [out.read_text() for out in outputs])
    for _, process in running:
        process.send_signal(signal.SIGKILL)
        process.wait()
    acknowledged = written(outputs)
    table = shared(tmp_path / "t")
    assert set(content(table)) >= set(acknowledged)
    assert {time for time, _ in every(table)} >= set(acknowledged.values())
    table.write(batch([("z", "p", 1, 1)]), "insert", SMALL_BLOOM)
    rows, wanted = content(table), every(table)
    table.run(ARCHIVE, SHORTER)
    again = HoodieTable.open(table.base_path)
    assert (content(again), every(again)) == (rows, wanted)
    assert len(again.timeline.commits) == 1
    assert Counter(stored(again).values()).keys() == {1}
    assert not {instant.key for instant in again.timeline} & set(stored(again))
