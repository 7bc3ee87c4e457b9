"""The rewriting of assertions in test modules, divided between the workers of xdist.

pytest keeps the modules that it has rewritten. Without them each worker would rewrite all of them, side by side with the others:
the unit tests take 15 processor seconds of each worker.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def rewrite_share(config: pytest.Config, folders: list[Path], worker: int, workers: int) -> None:
    """Rewrite each file of tests in `folders` that was never rewritten and whose turn is the worker's."""
    if sys.dont_write_bytecode:
        return
    state = config.stash[rewrite.assertstate_key]
    files = sorted(file for folder in folders for file in folder.rglob("test_*.py"))
    for file in files[worker::workers]:
        kept = rewrite.get_cache_dir(file) / (file.name[:-3] + rewrite.PYC_TAIL)
        if not kept.exists() and rewrite.try_makedirs(kept.parent):
            source, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(state, code, source, kept)
