"""Look for new faults with fresh seeds, until the time is over.

`python -m tests.runner.hunt [--minutes N] [--only SEARCH] [--seed N]`. The searches take turns: property tests, random histories,
the simulation, kills of real processes, 1,000 kills of streams into each kind of table, and loads of a database (each turn for
`SECONDS`). The first failure ends the hunt and
is printed with the command that repeats it. A fault that it finds becomes a fixed example (`@example`) or a test of its own.
"""

from __future__ import annotations

import argparse
import itertools
import random
import subprocess
import sys
import time

from tests.runner.processes import Processes, run_interruptible
from tests.runner.suites import SIDE_BY_SIDE

_WITHOUT_AIRFLOW = ("--ignore", "tests/unit/hoodie_airflow")
SEARCHES = {
    "properties": ("-m", "hypothesis and not histories", *_WITHOUT_AIRFLOW, "tests/unit"),
    "histories": ("-m", "histories", *_WITHOUT_AIRFLOW, "tests/unit"),
    "simulation": ("tests/simulation/test_simulation.py",),
    "kills": ("tests/crash/test_kills.py",),
    "streams": ("tests/unit/spark/stream/test_random_kills.py",),
    "databases": ("-s", "tests/load/test_database.py"),
}
SEEDS = 1 << 31  # of which a turn draws one; a test takes some that follow it


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runner.hunt", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long to look")
    parser.add_argument("--only", choices=SEARCHES, help="one search instead of all")
    parser.add_argument("--seed", type=int, help="one turn with this seed, to repeat a failure")
    options = parser.parse_args()
    names = [options.only] if options.only else list(SEARCHES)
    if options.seed is not None:
        return run_interruptible(lambda processes: max(_turn(name, options.seed, processes, None) for name in names))
    return run_interruptible(lambda processes: _hunt(names, options.minutes * 60, processes))


def _hunt(names: list[str], seconds: float, processes: Processes) -> int:
    """Returns the exit code of the first turn that fails, or 0 when the time is over. A turn ends after its share of the time."""
    dice, end = random.SystemRandom(), time.monotonic() + seconds
    dice.shuffle(names)
    turns = itertools.cycle(names)
    whole = cut = 0
    while (left := end - time.monotonic()) > 0:
        name, seed = next(turns), dice.randrange(SEEDS)
        try:
            code = _turn(name, seed, processes, min(left, seconds / len(names)))
        except subprocess.TimeoutExpired:
            processes.kill_left()
            cut += 1
            continue
        if code:
            print(f"found by {name}; again: python -m tests.runner.hunt --only {name} --seed {seed}", flush=True)
            return code
        whole += 1
    print(f"the time is over: {whole} turns found nothing, {cut} more were cut short", flush=True)
    return 0


def _turn(name: str, seed: int, processes: Processes, seconds: float | None) -> int:
    """One search with one seed. Returns pytest's exit code. Raises TimeoutExpired after `seconds`."""
    print(f"{name}, seed {seed}", flush=True)
    drawn = ["--hypothesis-profile", "hunt", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", "-x", *SIDE_BY_SIDE, *drawn, *SEARCHES[name]]
    return processes.run(command, environment={"HUNT_SEED": str(seed)}, seconds=seconds)


if __name__ == "__main__":
    sys.exit(main())
