"""Run the suites: `python -m tests.runner [SUITE ...] [--deep]`. Logs and durations go to build/tests."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.runner.durations import Ended, failed_tests, read_phases, report
from tests.runner.processes import Processes, run_interruptible
from tests.runner.suites import SUITES, Suite, suites_named

BUILD = Path("build") / "tests"
NEEDED_BYTES = 4 << 30  # free on the disk of the tests: tables, logs of Airflow and Spark
SHOWN = 400  # lines of the log of a suite that failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runner", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(suite.name for suite in SUITES))
    parser.add_argument("--deep", action="store_true", help="also the tests that are marked deep")
    options = parser.parse_args()
    try:
        suites = suites_named(options.suites)
    except ValueError as error:
        parser.error(str(error))
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        if (free := shutil.disk_usage(folder).free) < NEEDED_BYTES:
            parser.error(
                f"{folder} has {free >> 20} MiB free, the tests need {NEEDED_BYTES >> 20}: free some, or set TMPDIR"
            )
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    environment = {"DEEP": "1"} if options.deep else {}
    return run_interruptible(lambda processes: _run_all(suites, processes, environment))


def _run_all(suites: Sequence[Suite], processes: Processes, environment: dict[str, str]) -> int:
    ended = _in_lanes(suites, processes, environment)
    return _end(ended, processes.kill_left())


def _in_lanes(suites: Sequence[Suite], processes: Processes, environment: dict[str, str]) -> list[Ended]:
    """Two lanes of suites side by side, so that no core is idle while a test waits."""
    lanes = [[suite for suite in suites if suite.lane == lane] for lane in (1, 2)]

    def run(lane: Sequence[Suite]) -> list[Ended]:
        return [_run(suite, processes, environment) for suite in lane]

    with ThreadPoolExecutor(len(lanes)) as pool:
        futures = [pool.submit(run, lane) for lane in lanes]
        try:
            return [ended for future in futures for ended in future.result()]
        except BaseException:
            processes.stop()  # else the pool waits for the suites that run
            raise


def _run(suite: Suite, processes: Processes, environment: dict[str, str]) -> Ended:
    print(f"{suite.name} begins", flush=True)
    begun = time.monotonic()
    exit_code, phases = _pytest(suite.name, suite.arguments, processes, environment)
    failed = failed_tests(phases)
    again: tuple[str, ...] = ()
    if suite.second_try and exit_code == 1 and failed:
        print(f"{suite.name}: {len(failed)} failed, second try", flush=True)
        exit_code, second = _pytest(f"{suite.name}-again", (*suite.arguments[:-1], *failed), processes, environment)
        again = tuple(sorted(set(failed) - set(failed_tests(second))))
    ended = Ended(suite.name, exit_code, time.monotonic() - begun, phases, again)
    print("\n".join(_shown(ended)), flush=True)
    return ended


def _pytest(
    name: str, arguments: Sequence[str], processes: Processes, environment: dict[str, str]
) -> tuple[int, tuple]:
    records = (BUILD / f"{name}.jsonl").resolve()
    command = [sys.executable, "-m", "pytest", "-p", "tests.runner.recorder", *arguments]
    exit_code = processes.run(command, BUILD / f"{name}.log", {**environment, "RECORD_TO": str(records)})
    return exit_code, read_phases(records)


def _shown(ended: Ended) -> Iterator[str]:
    """The end of a suite's log: its last line, or of a suite that failed what pytest says of it."""
    names = [ended.name, f"{ended.name}-again"]
    lines = [
        line
        for name in names
        if (log := BUILD / f"{name}.log").exists()
        for line in log.read_text(errors="replace").splitlines()
    ]
    verdict = "passed" if ended.exit_code == 0 else f"FAILED, exit code {ended.exit_code}"
    yield f"---- {ended.name}: {verdict}, {ended.seconds:.0f} s"
    yield from lines[-SHOWN:] if ended.exit_code else lines[-1:]


def _end(ended: Sequence[Ended], left: Sequence[str]) -> int:
    lines = list(report(ended))
    (BUILD / "durations.md").write_text("\n".join(lines) + "\n")
    print("\n".join(["", *lines[: lines.index("")], "", f"the slowest tests: {BUILD / 'durations.md'}"]))
    for suite in ended:
        for test in suite.again:
            print(f"passed in its second try only: {test}")
    for name in left:
        print(f"was left running, and is killed: {name}")
    failed = [suite for suite in ended if suite.exit_code]
    for suite in failed:
        print(f"FAILED: {suite.name}")
        for test in failed_tests(suite.phases):
            if test not in suite.again:
                print(f"  {test}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
