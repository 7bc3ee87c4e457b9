"""Conversions of a process that does without pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hudi_services.runtime.folders import PROJECT

pytestmark = pytest.mark.process

CODE = """
import sys
from datetime import UTC, datetime
from decimal import Decimal

from hudi_services.runtime.arrow_conversion import convert_without_pandas

convert_without_pandas()
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

rows = pa.table({"n": [1, None], "t": ["a", None], "f": [1.5, float("nan")], "at": [datetime(2026, 1, 1, tzinfo=UTC), None]})
assert rows["f"].null_count == 0, "as with pandas: only values of pandas are null by nan"
assert pa.array(np.array([1, 2])).to_pylist() == [1, 2]
assert pa.scalar(Decimal("1.10")).as_py() == Decimal("1.10")
assert rows.filter(pc.field("n") == 1).to_pylist()[0]["t"] == "a"
print("pandas" in sys.modules)
import pandas

assert pandas.DataFrame({"n": [1]}).n.sum() == 1
"""

CHILD = """
import os, runpy, sys

sys.argv = ["child", str(os.getppid()), str(4 << 30), "--help"]
try:
    runpy.run_module("hudi_services.cli.child_process", run_name="__main__")
except SystemExit as ended:
    assert not ended.code
import pyarrow as pa

pa.array(["a"])
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("code", [CODE, CHILD], ids=["values", "the process of a task"])
def test_values_are_converted_and_pandas_stays_outside(code):
    run = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1] == "False", "whether pandas was imported"
