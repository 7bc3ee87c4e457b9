"""The names that a plain `import hoodie` gives, and the modules that it does not load."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import hoodie
from hudi_services.runtime.folders import PROJECT

pytestmark = pytest.mark.process


def run(code: str, **options):
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, check=False, cwd=PROJECT, **options)


def test_import_hoodie_gives_its_parts_on_use():
    code = "import sys, hoodie\nassert 'pyarrow' not in sys.modules\nassert 'pyspark' not in sys.modules\n"
    code += "assert hoodie.spark.session_options()\nassert hoodie.HoodieTable\nassert set(hoodie.__all__) <= set(dir(hoodie))"
    done = run(["-c", code])
    assert done.returncode == 0, done.stderr


def test_importing_the_library_imports_neither_pandas_nor_arrow_s_data_sets():
    """A third of a second in each driver and worker (decision 9). Workers compute rows of SQL, too."""
    modules, unused = ("hoodie.table", "hoodie.spark", "hoodie.sql.spark.rows"), {"pandas", "pyarrow.dataset", "duckdb"}
    code = f"import sys\nfor module in {modules}:\n    __import__(module)\n"
    code += f"    found = {unused} & set(sys.modules)\n    assert not found, (module, found)"
    done = run(["-c", code])
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'nothing'"):
        hoodie.nothing  # noqa: B018


MODULES = (
    "bench",
    "profile",
    "profile_reads",
    "arrow_baseline",
    "small_files",
    "spark_runner",
    "local_runner",
    "local_changes",
    "hudi_runner",
    "engines",
    "markers",
    "backlog",
    "doctor",
    "clustering",
    "pages",
    "watcher_look",
    "stream_writer",
    "batch_hour",
    "binlog_load",
    "hudi_stream",
    "debezium_engine",
    "debezium_sink",
    "messages",
    "whole_databases",
    "snapshot",
    "verify",
    "database_lag",
    "database_day",
    "registration",
    "class_archive",
)
# Each module in a process of its own, as `python -m` starts it. Their parent has loaded what most of them load.
HELP = """
import os, runpy, sys
import duckdb, numpy, pandas, pyarrow.parquet, pydantic, pyspark.sql, pytest, sqlalchemy
import benchmarks, hoodie.dataset, hoodie.spark, hoodie.sql, hoodie.table, hudi_services.sources.cdc.mysql.table_load
for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        sys.argv = [module, "--help"]
        try:
            runpy.run_module(f"benchmarks.{module}", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code or 0)  # at once: Python's own end takes a second with all that is loaded
        sys.exit("it goes on after its help")
    print("==", module, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.deep("thirty programs for developers: other tests import their modules")
def test_benchmarks_start_as_documented():
    """Without PYTHONPATH, as a person types it."""
    done = run(["-c", HELP, *MODULES], env={"PATH": "/usr/bin:/bin"}, timeout=120)
    assert done.returncode == 0, done.stderr
    *printed, rest = re.split(r"^== (.*)\n", done.stdout, flags=re.M)
    assert printed[1::2] == [f"{module} 0" for module in MODULES], done.stderr
    for module, text in zip(MODULES, printed[::2], strict=True):
        assert "usage" in text.lower(), module
    assert not rest


def test_every_benchmark_that_runs_by_itself_is_asked_for_its_help():
    by_itself = {path.stem for path in (PROJECT / "benchmarks").glob("*.py") if "__main__" in path.read_text()}
    asked = set(MODULES)
    assert by_itself - asked == {"delta_runner"}, "which needs the peer's environment"
    for path in [*(PROJECT / "docs").rglob("*.md"), *(PROJECT / "benchmarks").glob("*.py")]:
        named = set(re.findall(r"python -m benchmarks\.(\w+)", path.read_text()))
        assert named <= by_itself, path
