"""Look for new faults: property tests with fresh seeds, until the time is over.

`python -m tests.runner.hunt [--minutes N] [--seed N]`. The first failure ends the hunt and is printed with the command that
repeats it. A fault that it finds becomes a fixed example (`@example`) or a test of its own.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time

from tests.runner.suites import SIDE_BY_SIDE


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runner.hunt", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long to look")
    parser.add_argument("--seed", type=int, help="one round with this seed, to repeat a failure")
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60
    rounds = 0
    while rounds == 0 or (options.seed is None and time.monotonic() < end):
        seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
        if code := _round(seed):
            print(f"found with seed {seed}; again: python -m tests.runner.hunt --seed {seed}", flush=True)
            return code
        rounds += 1
    print(f"{rounds} rounds found nothing", flush=True)
    return 0


def _round(seed: int) -> int:
    """All property tests once. Returns pytest's exit code."""
    drawn = ["-m", "hypothesis", "--hypothesis-profile", "hunt", f"--hypothesis-seed={seed}"]
    return subprocess.call(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            *SIDE_BY_SIDE,
            *drawn,
            "--ignore",
            "tests/unit/hoodie_airflow",
            "tests/unit",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
