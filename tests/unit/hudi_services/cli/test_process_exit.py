"""The end of a process: every step at exit is done, output is whole, and the interpreter is not taken apart."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.matrix import sample

pytestmark = pytest.mark.process

PROGRAM = """
import sys
from hudi_services.cli.process_exit import Leaving
leaving = Leaving()
import atexit, tempfile
class Late:
    def __del__(self):
        print("taken apart")
late = Late()
late.itself = late
atexit.register(print, "at exit")
folder = tempfile.TemporaryDirectory()
print(folder.name)
{}
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [("leaving.code = 0", 0), ("leaving.code = 2; sys.exit(2)", 2), ("1 / 0", 1)],
)
def test_everything_is_done_before_the_process_is_left(end, code):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", PROGRAM.format(end)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    folder, *lines = done.stdout.splitlines()
    assert done.returncode == code
    assert lines == ["at exit"]
    assert not os.path.exists(folder)
    assert ("ZeroDivisionError" in done.stderr) == (code == 1)


def test_a_reader_that_goes_away_is_no_traceback():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f"{sys.executable} -m hudi_services options | true"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    sample([(["options"], 0), (["clean"], 2), (["clean", "--target-base-path", "/nowhere"], 1)], 2),
)
def test_the_program_ends_with_the_code_of_its_service(arguments, code):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-m", "hudi_services", *arguments]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout or done.stderr
