"""Tables that Apache Hudi wrote. Their metadata holds absolute paths below the folder where they were made."""

from __future__ import annotations

import gc
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.matrix import DEEP
from tests.support.rewriting import rewrite_share
from tests.support.s3 import moto_server

# How long an example takes says more of the machine than of the code. Each run takes the same examples, so that a verdict
# can be repeated. New draws belong to `--hypothesis-profile hunt`.
settings.register_profile("any machine", deadline=None, derandomize=True, max_examples=100 if DEEP else 15)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)  # of `make quick`
settings.register_profile("hunt", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("any machine")

# Processes that tests start find the project as pytest does (pyproject.toml), also when a test is run without make.
ROOT = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "plugins"), str(ROOT)))

# pytest-xdist sets the width of its terminal for its workers, and commands would fit their tables to it.
os.environ.pop("COLUMNS", None)

# Tests make and delete some hundred thousand small files: in memory, where the machine gives enough of it. A disk takes a third
# of the time of the unit tests to delete them.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # pytest has asked tempfile before it loads this file


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Ten thousand tests are no garbage. A third of the time of their collection went into looking for some among them."""
    gc.disable()
    try:
        if (of_xdist := getattr(session.config, "workerinput", None)) is not None:
            folders = [Path(argument) for argument in session.config.args if Path(argument).is_dir()]
            rewrite_share(session.config, folders, int(of_xdist["workerid"][2:]), of_xdist["workercount"])
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `deep` run with DEEP=1, which `make test-deep` sets, or when the command line names them with `-m deep`."""
    if DEEP or "deep" in config.option.markexpr:
        return
    skipped = [item for item in items if item.get_closest_marker("deep")]
    if skipped:
        config.hook.pytest_deselected(items=skipped)
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


ARCHIVES = Path(__file__).parent / "golden" / "tables"


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """Unpacks an archive once: name (`12v9`: Hudi 1.2.0 version 9, `15v6`: 0.15.0 version 6) -> folder of tables."""
    made: dict[str, Path] = {}

    def unpack(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp("golden")
            with tarfile.open(ARCHIVES / f"hudi-{name}.tar.xz") as archive:
                archive.extractall(folder, filter="data")
            made[name] = folder / name
        return made[name]

    return unpack


@pytest.fixture(scope="session")
def expected(golden):
    """(archive, table) -> {id: [name, price, ts]}, as Hudi's own snapshot read gave it."""

    def load(name: str, table: str) -> dict[str, list]:
        return json.loads((golden(name) / "_expected.json").read_text())[table]

    return load


@pytest.fixture(scope="session")
def s3():
    """An S3 server; `s3://` reaches it, here and in children, from the first test that asks for it."""
    with moto_server() as server:
        yield server
