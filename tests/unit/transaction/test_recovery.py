"""Repairs of a run before its own work are reported: in the log, in the result's message and as JSON."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

from hoodie.clock import SystemClock
from hoodie.services.clean.service import CLEAN
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.recovery import recovered, recoveries
from hudi_services.cli.program import main
from tests.support.tables import SMALL_BLOOM, batch, create


def killed_with_the_lock(path) -> int:
    """Another process takes the lock and is killed. Returns its number."""
    code = (
        "import os, sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from tests.support.locks import NO_WAIT; from hoodie.transaction.locks import table_lock\n"
        f"with table_lock(LocalStorage({str(path)!r}), SystemClock(), 'upsert', NO_WAIT):\n    os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        assert process.wait() == -9
        return process.pid


def begun(table) -> str:
    """A commit that another writer began and did not complete."""
    state = table.state()
    requested = instants.request(state, new_time(state, SystemClock()), Action.COMMIT)
    return str(instants.start(state, requested).time)


def test_a_command_tells_what_it_put_in_order(tmp_path, capsys, caplog):
    table = create(tmp_path)
    for step in (1, 2, 3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    failed, pid = begun(table), killed_with_the_lock(tmp_path)
    arguments = ["clean", f"--target-base-path={tmp_path}", "--hoodie-conf=hoodie.clean.commits.retained=1", "--json"]
    with caplog.at_level(logging.WARNING):
        assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    over, back = told["recovered"]
    assert over.startswith(f"took over the lock {LOCK} of pid {pid} on host {os.uname().nodename}")
    assert back.startswith(f"rolled back instant {failed}, a commit")
    assert told["message"].endswith(f"; {over}; {back}")
    told_by_log = [message for message in caplog.messages if message.startswith("Recovery")]
    assert told_by_log == [f"Recovery: {over}", f"Recovery: {back}"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["recovered"] == []


def test_from_python_it_is_in_the_log(tmp_path, caplog):
    table = create(tmp_path)
    failed = begun(table)
    table.write(batch([("a", "p", 1, 1)]))
    assert f"rolled back instant {failed}" in caplog.text
    caplog.clear()
    table.run(CLEAN, {})
    assert "Recovery" not in caplog.text


def test_words_of_a_file_stay_one_short_line():
    with recoveries() as told:
        recovered("took over the lock of\n[hudi] all is well" + "x" * 5000)
    recovered("nobody listens")
    assert len(told) == 1
    assert "\n" not in told[0]
    assert len(told[0]) == 500
