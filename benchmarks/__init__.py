"""The same work on this project and on Apache Hudi's bundle, in one run."""

import os
import sys
from pathlib import Path

# `python -m benchmarks.bench` is enough: this process, and Spark's workers, find the library without PYTHONPATH.
_FOUND_IN = [str(Path(__file__).resolve().parents[1] / "plugins"), str(Path(__file__).resolve().parents[1])]
sys.path[:0] = [folder for folder in _FOUND_IN if folder not in sys.path]
os.environ["PYTHONPATH"] = os.pathsep.join(
    dict.fromkeys([*_FOUND_IN, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
)
