"""A process whose memory is full has some left to say so, in its report and on its way out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import read_report

pytestmark = pytest.mark.process

FILLED = """
import sys
from hoodie.storage import open_storage
from hudi_services.runtime.result import reported
from hudi_services.runtime.memory_reserve import limit_memory
limit_memory(400 << 20)
held = []
def fill():
    size = 1 << 20
    while True:
        try:
            held.append(bytearray(size))
        except MemoryError:
            size //= 2
            if size < 16:
                raise
with reported(sys.argv[1]):
    fill()
"""


def test_a_full_process_leaves_its_report(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", FILLED, str(report)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    left = read_report(str(report))
    assert isinstance(left, Failure)
    assert left.error == "MemoryError"
