"""The systems of a comparison: each phase runs in a process of its own and prints seconds, memory and results as JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop import peer_env

ROOT = Path(__file__).resolve().parents[1]
HUDI = "1.2.0"


@dataclass(frozen=True)
class Runner:
    """One engine on one table. A phase is run as `command phase source table *rest`."""

    name: str
    command: tuple[str, ...]
    table: Path
    arguments: tuple[str, ...]
    phases: tuple[str, ...]


def peer_command(module: str) -> tuple[str, ...]:
    """A module of the peer's environment."""
    return (str(peer_env.PYTHON), "-m", module)


def our_command(module: str) -> tuple[str, ...]:
    """A module of this environment."""
    return (sys.executable, "-m", module)


def program_environment(python: str) -> dict[str, str]:
    """The variables of a measured process, which is run by `python`."""
    # If Python may not keep bytecode, every worker compiles the library again.
    unwanted = ("SPARK_HOME", "SPARK_CONF_DIR", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    found_in = f"{ROOT / 'plugins'}:{ROOT}"
    return environment | {"PYTHONPATH": found_in, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}


def run(runner: Runner, source: Path) -> dict[str, Any]:
    """All phases: what a process learned in the writes must not help its reads. Their steps come together in one report."""
    for folder in (runner.table, *runner.table.parent.glob(f"{runner.table.name}-*")):
        shutil.rmtree(folder, ignore_errors=True)
    environment = program_environment(runner.command[0])
    reports = []
    for phase in runner.phases:
        print(f"-- {runner.name}: {phase}", file=sys.stderr)
        start = time.perf_counter()
        command = [*runner.command, phase, str(source), str(runner.table), *runner.arguments]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=ROOT)
        reports.append(json.loads(result.stdout.splitlines()[-1]))
        reports[-1]["seconds"][f"whole {phase} process, with start and warm-up"] = time.perf_counter() - start
    steps = {
        measure: {step: value for report in reports for step, value in report[measure].items()}
        for measure in ("seconds", "processor", "results")
    }
    return {**reports[0], **steps}
