"""The list of mutants fits the code, so that `make mutants` runs all of them."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.mutants import NEAREST, ROOT, TABLE, UNIT, Mutant, MutantError, Verdict, load, rows_of, table
from tests.runner.quick import FAST
from tests.support.faults import assert_no_faults

MUTANTS = load()
AREAS = {
    "view", "merge", "transaction", "services", "write", "index", "formats", "timeline", "sql", "ingest", "watch",
    "pages", "changes", "streams",
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
    assert min(areas.values()) >= 3


def test_each_mutant_has_a_name_of_its_own_and_tests_that_exist() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert [name for mutant in MUTANTS for name in mutant.tests if not (ROOT / UNIT / name).exists()] == []
    assert all(mutant.loss and mutant.tests for mutant in MUTANTS)


def test_the_tests_that_the_list_names_run_first_and_then_the_nearest():
    mutant = Mutant(
        "it", "view", "plugins/hoodie/view/pending_groups.py", "1", "2", "a row", ("view", "write/test_drop.py")
    )
    named, others = mutant.places()
    assert named[0] == "tests/unit/view/test_pending_groups.py"
    assert named[-1] == "tests/unit/write/test_drop.py"
    assert others[:2] == ("-m", FAST)
    assert len(others) == 2 + NEAREST
    assert not set(named) & set(others)


def test_the_table_has_each_mutant_and_no_survivor_without_an_explanation():
    rows = rows_of(TABLE.read_text(encoding="utf-8"))
    without = [mutant.id for mutant in MUTANTS if mutant.id not in rows]
    assert without == [], f'run make mutants ARGS="{" ".join(without)}"'
    assert list(rows) == [mutant.id for mutant in MUTANTS]


def test_a_new_verdict_replaces_its_row():
    one, two = MUTANTS[0], replace(MUTANTS[1], explained="no reader asks")
    ids = [one.id, two.id]
    known = table(table("", Verdict(two), ids), Verdict(one, "tests/unit/view/test_it.py::test_it", None, 4.6), ids)
    assert rows_of(known) == {
        one.id: f"| {one.id} | {one.area} | `view/test_it.py::test_it` | 5 |",
        two.id: f"| {two.id} | {two.area} | survives: no reader asks | 0 |",
    }
    assert table(known, Verdict(one, error="no test ran"), ids) == known
    assert list(rows_of(table(known, Verdict(one), ids))) == [two.id], "it survived"
    assert list(rows_of(table(known, Verdict(two), [two.id]))) == [two.id], "the list has the other no more"


RUN = """
import sys
from pathlib import Path
from tests import mutants
from tests.runner.processes import run_interruptible

mutants.ROOT, mutants.TABLE = Path.cwd(), Path("table.md")
mutants.load = lambda: (mutants.Mutant("it", "view", "it.py", "1", "2", "a row", ("test_it.py",)),)
sys.exit(run_interruptible(lambda processes: mutants.main(processes, ["it"])))
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


@pytest.mark.deep("the runner of the suites has the same tests")
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
