"""`make test` runs its suites, says which failed, and leaves no process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.runner.durations import Ended, Phase, failed_tests, read_phases, report
from tests.runner.suites import SUITES, suites_named
from tests.support.matrix import sample

ROOT = Path(__file__).resolve().parents[2]
PASSES = "def test_passes(): pass\n"
COMPUTES = """
import subprocess, sys, time

SPIN = "import time\\nwhile time.process_time() < 0.5: pass"

def test_computes():
    exec(SPIN.replace("0.5", str(time.process_time() + 0.5)))

def test_starts_a_program_that_computes():
    subprocess.run([sys.executable, "-c", SPIN], check=True)

def test_waits():
    time.sleep(0.5)
"""
FAILS = "def test_fails(): assert 0\n"
FAILS_ONCE = """
from pathlib import Path

def test_passes(): pass

def test_is_slow_once():
    before = Path("before")
    seen = before.exists()
    before.touch()
    assert seen
"""
# A test forgets a process that it started, in a session of its own.
FORGETS = """
import subprocess, sys
from pathlib import Path

def test_forgets():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    Path("forgotten").write_text(str(process.pid))
"""


# Programs that start the tests can ignore signals, as nohup does, and their children inherit that.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.runner import __main__ as runner
from tests.runner import processes
from tests.runner.suites import Suite

processes.ENDING_SECONDS = 0.5
runner.suites_named = lambda names: (Suite("it", ("test_it.py",), second_try="second" in names),)
sys.exit(runner.main())
"""


pytestmark = pytest.mark.process


@pytest.fixture
def start(tmp_path):
    """Starts a run of one suite of the given text, in a process of its own: it kills all of its children."""

    def suite(text: str, *arguments: str) -> subprocess.Popen[str]:
        (tmp_path / "test_it.py").write_text(text)
        command = [sys.executable, "-c", SCRIPT, *arguments]
        started.append(
            subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True)
        )
        return started[-1]

    started: list[subprocess.Popen[str]] = []
    yield suite
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def run(start):
    """Runs one suite of the given text: -> exit code, what was printed."""

    def suite(text: str, *arguments: str) -> tuple[int, str]:
        process = start(text, *arguments)
        printed, _ = process.communicate(timeout=120)
        return process.returncode, printed

    return suite


def test_a_suite_that_passes(run):
    code, printed = run(PASSES)
    assert code == 0
    assert "| it | 1 |" in printed
    assert "FAILED" not in printed


def test_processor_seconds_are_those_of_the_test_and_of_its_programs(run, tmp_path):
    assert run(COMPUTES)[0] == 0
    computes, starts, waits = (
        phase.processor for phase in read_phases(tmp_path / "build" / "tests" / "it.jsonl") if phase.phase == "call"
    )
    assert computes >= 0.45
    assert starts >= 0.45
    assert waits < 0.3


def test_a_test_that_fails_is_named(run):
    code, printed = run(FAILS)
    assert code == 1
    assert "FAILED: it\n  test_it.py::test_fails" in printed
    assert "def test_fails(): assert 0" in printed


def test_a_second_try_is_printed_by_name(run):
    code, printed = run(FAILS_ONCE, "second")
    assert code == 0
    assert "passed in its second try only: test_it.py::test_is_slow_once" in printed


def test_other_suites_get_no_second_try(run):
    assert run(FAILS_ONCE)[0] == 1


def test_a_file_that_cannot_be_imported_fails_in_spite_of_second_tries(run):
    assert run("import no_such_module\n", "second")[0] == 1


def test_a_suite_without_tests_fails(run):
    assert run("")[0] == 1


def test_a_forgotten_process_is_named_and_killed(run, tmp_path):
    code, printed = run(FORGETS)
    assert code == 0
    assert "was left running, and is killed" in printed
    assert not psutil.pid_exists(int((tmp_path / "forgotten").read_text()))


@pytest.mark.parametrize("number", sample([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 0))
def test_a_signal_leaves_no_process(start, tmp_path, number):
    process = start(FORGETS + "    process.wait()\n")
    forgotten, deadline = tmp_path / "forgotten", time.monotonic() + 60
    while not (forgotten.exists() and forgotten.read_text()):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) == 130
    assert not psutil.pid_exists(int(forgotten.read_text()))


FULL_DISK = """
import errno
from pathlib import Path
from tests.runner import __main__ as runner

def full(path):
    raise OSError(errno.ENOSPC, "No space left on device", str(path))

runner.read_phases = full
"""


def test_a_full_disk_is_named(tmp_path):
    (tmp_path / "test_it.py").write_text(PASSES)
    done = subprocess.run([sys.executable, "-c", FULL_DISK + SCRIPT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "it.jsonl is full: free some space" in done.stdout
    assert "Traceback" not in done.stderr


def test_every_suite_exists_once():
    assert len({suite.name for suite in SUITES}) == len(SUITES)
    for suite in SUITES:
        assert (ROOT / suite.arguments[-1]).is_dir()
    run = {suite.arguments[-1] for suite in SUITES}
    assert {f"tests/{path.parent.name}" for path in ROOT.glob("tests/*/test_*.py")} | {"tests/unit"} == run


def test_an_unknown_suite_is_refused_by_name():
    with pytest.raises(ValueError, match="no suite crush: choose of spark, unit"):
        suites_named(["crush"])


def test_durations_begin_with_the_slowest():
    phases = (
        Phase("a", "setup", "passed", 2.0, 1.0),
        Phase("a", "call", "passed", 1.0, 0.6),
        Phase("b", "call", "failed", 9.0, 4.0),
    )
    lines = list(report([Ended("it", 1, 7.4, phases)]))
    assert lines[2] == "| it | 2 | 7 | 12 | 6 |"
    assert [line.split(" | ")[-1] for line in lines[6:]] == ["`b` |", "`a` |", "`a` |"]
    assert failed_tests(phases) == ["b"]
