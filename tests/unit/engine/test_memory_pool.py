"""Arrow's memory pool once tasks have run: a program of its own each, as all of a process has one."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from hudi_services.runtime.folders import PROJECT

pytestmark = pytest.mark.process

RUN = """
import pyarrow as pa
from hoodie.engine import LocalEngine
LocalEngine(1).map(str, [1])
print(pa.default_memory_pool().backend_name)
"""


def pool(**environment: str) -> str:
    paths = {"PYTHONPATH": f"{PROJECT / 'plugins'}"}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**paths, **environment})
    return done.stdout.strip()


def test_memory_comes_from_jemalloc_where_arrow_has_it():
    assert pool() == ("jemalloc" if "jemalloc" in pa.supported_memory_backends() else "system")


def test_whoever_chose_a_pool_keeps_it():
    assert pool(ARROW_DEFAULT_MEMORY_POOL="mimalloc") == "mimalloc"
