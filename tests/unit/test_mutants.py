"""The list of mutants fits the code, so that `make mutants` runs all of them."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.mutants import ROOT, UNIT, Mutant, MutantError, load
from tests.support.faults import assert_no_faults

MUTANTS = load()
AREAS = {
    "view", "merge", "transaction", "services", "write", "index", "formats", "timeline", "sql", "ingest", "watch", "pages",
}  # fmt: skip


def test_each_mutant_changes_its_file_to_another_that_compiles() -> None:
    assert_no_faults(fault for mutant in MUTANTS if (fault := _fault(mutant)))


def _fault(mutant: Mutant) -> str | None:
    """Return why a mutant cannot be made, or what is wrong with the file that it makes."""
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    try:
        changed = ast.parse(mutant.applied(text))
    except (MutantError, SyntaxError) as error:
        return f"{mutant.id}: {error}"
    return f"{mutant.id}: it changes nothing" if ast.dump(changed) == ast.dump(ast.parse(text)) else None


def test_a_text_that_occurs_twice_is_refused() -> None:
    mutant = MUTANTS[0]
    with pytest.raises(MutantError, match=f"mutant {mutant.id}: its `before` occurs 2 times in {mutant.file}"):
        mutant.applied(mutant.before * 2)


def test_there_are_mutants_of_each_area() -> None:
    areas = Counter(mutant.area for mutant in MUTANTS)
    assert areas.keys() == AREAS
    assert areas.total() >= 60


def test_each_mutant_has_a_name_of_its_own_and_tests_that_exist() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert [name for mutant in MUTANTS for name in mutant.tests if not (ROOT / UNIT / name).exists()] == []
    assert all(mutant.loss and mutant.tests for mutant in MUTANTS)


RUN = """
import sys
from pathlib import Path
from tests import mutants
from tests.runner.processes import run_interruptible

mutants.ROOT = Path.cwd()
mutants.load = lambda: (mutants.Mutant("it", "view", "it.py", "1", "2", "a row", ("test_it.py",)),)
sys.exit(run_interruptible(lambda _: mutants.main(["it"])))
"""
# The test starts a process in a session of its own, and waits for it.
WAITS = """
import subprocess, sys
from pathlib import Path

def test_waits():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    Path({pid!r}).write_text(str(process.pid))
    process.wait()
"""


@pytest.mark.process
def test_sigterm_leaves_no_process(tmp_path: Path) -> None:
    folder, pid = tmp_path / "tree", tmp_path / "pid"
    (folder / UNIT).mkdir(parents=True)
    (folder / "it.py").write_text("ONE = 1\n")
    (folder / UNIT / "test_it.py").write_text(WAITS.format(pid=str(pid)))
    for command in (["git", "init", "-q"], ["git", "add", "."]):
        subprocess.run(command, cwd=folder, check=True)
    process = subprocess.Popen([sys.executable, "-c", RUN], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (pid.exists() and pid.read_text()):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
        assert not psutil.pid_exists(int(pid.read_text()))
    finally:
        process.kill()
        process.wait()
