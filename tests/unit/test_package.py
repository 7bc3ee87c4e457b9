"""What a plain `import hoodie` gives, and what it does not load."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import hoodie
from hudi_services.folders import PROJECT

pytestmark = pytest.mark.process


def run(code: str, **options):
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, check=False, cwd=PROJECT, **options)


def test_import_hoodie_gives_its_parts_on_use():
    code = "import sys, hoodie\nassert 'pyarrow' not in sys.modules\nassert 'pyspark' not in sys.modules\n"
    code += "assert hoodie.spark.session_options()\nassert hoodie.HoodieTable\nassert set(hoodie.__all__) <= set(dir(hoodie))"
    done = run(["-c", code])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["hoodie.table", "hoodie.spark"])
def test_importing_the_library_imports_neither_pandas_nor_arrow_s_data_sets(module):
    """A third of a second in each driver and worker (docs/decisions/0009)."""
    code = f"import sys, {module}\nfound = {{'pandas', 'pyarrow.dataset'}} & set(sys.modules)\nassert not found, found"
    done = run(["-c", code])
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'nothing'"):
        hoodie.nothing  # noqa: B018


@pytest.mark.parametrize(
    "module",
    [
        "bench",
        "profile",
        "profile_reads",
        "floor",
        "many_files",
        "our_side",
        "local_side",
        "local_changes",
        "hudi_side",
        "engines",
        "markers",
        "backlog",
        "doctor",
        "clustering",
        "pages",
        "watching",
        "stream_writer",
        "batch_hour",
        "hudi_stream",
        "messages",
        "whole_databases",
        "snapshot",
        "verify",
    ],
)
def test_benchmarks_start_as_documented(module):
    """Without PYTHONPATH, as a person types it."""
    done = run(["-m", f"benchmarks.{module}", "--help"], env={"PATH": "/usr/bin:/bin"}, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()


def test_every_benchmark_that_runs_by_itself_is_asked_for_its_help():
    by_itself = {path.stem for path in (PROJECT / "benchmarks").glob("*.py") if "__main__" in path.read_text()}
    asked = set(test_benchmarks_start_as_documented.pytestmark[0].args[1])
    assert by_itself - asked == {"delta_side"}, "which needs the peer's environment"
    for path in [*(PROJECT / "docs").glob("*.md"), *(PROJECT / "benchmarks").glob("*.py")]:
        named = set(re.findall(r"python -m benchmarks\.(\w+)", path.read_text()))
        assert named <= by_itself, path
