"""`make hunt` takes fresh seeds, says how to repeat a failure, and ends in time."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import psutil
import pytest

from tests.kills import recovery
from tests.kills.actions import ACTIONS
from tests.runner.hunt import SEARCHES
from tests.support import examples

SCRIPT = """
import sys
from tests.runner import hunt

hunt.SEARCHES = {"it": ("test_it.py",)}
hunt.SIDE_BY_SIDE = ()
sys.argv[0] = "hunt"
sys.exit(hunt.main())
"""
SEEDED = "import os\n\ndef test_it():\n    open('seeds', 'a').write(os.environ['HUNT_SEED'] + '\\n')\n"
CONFTEST = "from hypothesis import settings\n\nsettings.register_profile('hunt')\n"


@pytest.fixture
def hunt(tmp_path):
    """Hunts with one test of the given text: -> exit code, what was printed."""
    (tmp_path / "conftest.py").write_text(CONFTEST)

    def run(text: str, *arguments: str) -> tuple[int, str]:
        (tmp_path / "test_it.py").write_text(text)
        command = [sys.executable, "-c", SCRIPT, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout

    return run


@pytest.mark.process
def test_a_failure_is_printed_with_the_command_that_repeats_it(hunt, tmp_path):
    code, printed = hunt(SEEDED + "    assert 0\n", "--minutes", "5")
    (seed,) = (tmp_path / "seeds").read_text().split()
    assert code == 1
    assert f"found by it; again: python -m tests.runner.hunt --only it --seed {seed}\n" in printed
    assert hunt(SEEDED, "--only", "it", "--seed", seed)[0] == 0
    assert (tmp_path / "seeds").read_text().split() == [seed, seed]


@pytest.mark.process
def test_a_search_that_does_not_end_is_stopped_in_time(hunt, tmp_path):
    begun = time.monotonic()
    text = "import os, time\n\ndef test_it():\n    open('pid', 'w').write(str(os.getpid()))\n    time.sleep(600)\n"
    code, printed = hunt(text, "--minutes", "0.05")
    assert code == 0
    assert re.search(r"the time is over: 0 turns found nothing, 1 more were cut short", printed)
    assert time.monotonic() - begun < 60
    assert not (tmp_path / "pid").exists() or not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_seeds_begin_at_zero_unless_the_hunt_sets_them(monkeypatch):
    assert list(examples.fixed_seeds(3)) == [0, 1, 2]
    monkeypatch.setattr(examples, "HUNT_SEED", 1000)
    assert list(examples.fixed_seeds(3)) == [1000, 1001, 1002]


@pytest.mark.parametrize("seed", [0, 1000])
def test_kills_take_other_calls_with_another_seed(monkeypatch, seed):
    kills = object.__new__(recovery.Kills)
    kills.every = [recovery.KillPoint(number, "create", "") for number in range(1, 31)]
    kills.action = next(action for action in ACTIONS.values() if action.version == "9")
    monkeypatch.setattr(recovery, "HUNT_SEED", seed)
    assert [point.number for point in kills.share(9)] == list(range(1 + seed % 9, 31, 9))


def test_the_searches_name_tests():
    assert {arguments[-1].split("/")[1] for arguments in SEARCHES.values()} == {"unit", "simulation", "crash", "load"}
