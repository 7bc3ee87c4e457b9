"""Programs of the project that are in no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from hudi_services.runtime.folders import PROJECT


def script(path: str) -> ModuleType:
    """The program at a path in the project, such as `docs/make_cli.py`, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, PROJECT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
