"""The shell of `hudi-services sql`: lines become statements, mistakes do not end it; and on a real terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect
from hudi_services.sql.lines import Lines, completions, one_line
from hudi_services.sql.shell import Shell
from tests.support.waiting import PATIENCE

MADE = "create table t (id string, total bigint) using hudi tblproperties (primaryKey = 'id')"


@pytest.mark.parametrize(
    ("typed", "statements"),
    [
        (["select 1;"], ["select 1"]),
        (["select", " 1", ";"], ["select\n 1\n"]),
        (["select 1; select 2;"], ["select 1", "select 2"]),
        (["select ';' as a;"], ["select ';' as a"]),
        (["select 'it", "goes; on';"], ["select 'it\ngoes; on'"]),
        (["select 1 /* a;", "b; */ + 1;"], ["select 1 /* a;\nb; */ + 1"]),
        (["select 1 -- one;", ";"], ["select 1 -- one;\n"]),
        (["select `a;b` from t;"], ["select `a;b` from t"]),
        ([";;", "select 1;"], ["select 1"]),
        (["-- nothing", "select 1"], []),
    ],
)
def test_lines_become_statements(typed, statements):
    lines = Lines()
    assert [whole for line in typed for whole in lines.add(line)] == statements


def test_an_open_text_waits_and_can_be_dropped():
    lines = Lines()
    assert list(lines.add("select 'abc")) == []
    assert lines.is_open
    lines.forget()
    assert not lines.is_open
    assert list(lines.add("select 1;")) == ["select 1"]


def test_completions():
    columns = {"orders": ["id", "total"], "other": ["idle"]}
    given = {"tables": lambda: columns, "columns": columns.__getitem__}
    assert completions("select i", "i", **given) == ["if", "in", "inner", "insert", "into", "is"]
    assert completions("SELECT I", "INS", **given) == ["INSERT"]
    assert completions("select * from o", "o", **given) == [
        "on",
        "or",
        "order",
        "orders",
        "other",
        "outer",
        "overwrite",
    ]
    assert completions("select * from orders where id", "id", **given) == ["id"], "idle is no column of it"
    assert completions("", "zz", **given) == []


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Lines typed -> what is on the screen."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def type_in(*lines):
        typed = iter(lines)

        def read(prompt):
            line = next(typed, None)
            if line is None:
                raise EOFError
            if isinstance(line, type):
                raise line
            return line

        with connect(tmp_path / "w") as connection:
            Shell(connection, connection.run).loop(read)
        told = capsys.readouterr()
        return told.out + told.err

    return type_in


def test_a_session(said):
    told = said(
        MADE + ";", "insert into t", "values ('a', 1), ('b', 2);", "select sum(total) as s from t;", "\\d", "\\d t"
    )
    assert re.search(r"\ns\n3\n", told)
    assert "total" in told
    assert "bigint" in told
    assert re.search(r"default +t +false", told)


def test_it_goes_on_after_mistakes(said):
    told = said("select * from nothing;", "selec 1;", "\\nonsense", "select 'abc", KeyboardInterrupt, "select 42 as n;")
    assert "TableNotFoundError" in told
    assert "There is no \\nonsense" in told
    assert "42" in told


def test_what_follows_a_failed_statement_on_its_line_is_not_run(said):
    said(MADE + ";", "insert into t values ('a', 1);")
    told = said("select * from nothing; delete from t;", "select count(*) as n from t;", "exit")
    assert "The rest of the line was not run." in told
    assert re.search(r"^n\n1$", told, re.MULTILINE), "no row was deleted"
    assert "deleted" not in told


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("select 1", "select 1"),
        ("delete from t\nwhere id = 1", "delete from t where id = 1"),
        ("delete from t\nwhere id = 1 -- one", None),
        ("update t set a = 1\nwhere n = 'x--y'", None),
        ("insert into t values ('two\nlines')", None),
        ("select `a\nb` from t", None),
        ("select 1 /* of\ntwo */", "select 1 /* of two */"),
    ],
)
def test_a_statement_of_the_history_is_the_whole_statement_or_none(statement, kept):
    assert one_line(statement) == kept


def test_a_statement_that_is_stopped_leaves_the_session(said, monkeypatch):
    stopped = []

    def stop(self, text):
        if "stop" in text and not stopped:
            stopped.append(text)
            raise KeyboardInterrupt
        return iter(())

    monkeypatch.setattr("hoodie.sql.connection.Connection.run", stop)
    assert "what was not committed is not there" in said("select 'stop';", "select 1;")


@pytest.mark.parametrize("word", ["\\q", "quit;", "EXIT"])
def test_words_that_leave(said, word):
    assert "42" not in said(word, "select 42;")


def test_rows_and_seconds_are_shown(said):
    assert re.search(r"\d\.\d\d s", said("select 1;"))
    assert "(2 rows, " in said("select explode(array(1, 2));")
    assert not re.search(r"\d s\)", said("\\timing", "select 1;"))


def test_rows_go_down_the_page(said):
    told = said("\\x", "select 1 as a, named_struct('b', array(1, 2)) as s;")
    assert '── 1 ──\na  1\ns  {"b": [1, 2]}\n(1 row, ' in told


def test_what_cannot_be_read_is_forgotten():
    lines = Lines()
    with pytest.raises(SqlError):
        list(lines.add("select X'zz';"))
    assert not lines.is_open


@pytest.mark.process
def test_on_a_real_terminal(tmp_path):
    """Typed, completed by Tab, stopped by Ctrl-C, left by Ctrl-D; the next session knows the statements of this one."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-m", "hudi_services", "sql", "--warehouse", str(tmp_path / "w")]
    with _Terminal(command, environment) as terminal:
        terminal.until("hudi> ")
        terminal.type(MADE + ";\n", "hudi> ")
        terminal.type("insert into t values\n", "   -> ")
        terminal.type("('a', 41);\n", "hudi> ")
        terminal.type("select total + 1 as more fr\t t where tot\t = 41;\n", "42")
        terminal.until("hudi> ")
        terminal.type("select 'open\n", "   -> ")
        terminal.stop()
        terminal.type("set hoodie.password = 'hidden';\n", "hudi> ")
        terminal.type("\x04", None)
        assert terminal.ended() == 0
    (history,) = (tmp_path / "state").rglob("sql_history")
    assert history.stat().st_mode & 0o077 == 0
    assert "hidden" not in history.read_text()
    with _Terminal(command, environment) as terminal:
        terminal.until("hudi> ")
        terminal.type("\x1b[A", "select total + 1 as more from t where total = 41;")
        terminal.type("\n", "42")
        terminal.until(
            "hudi> "
        )  # else it would be taken for the prompt after Ctrl-C, which drops what is typed before that
        terminal.stop()
        terminal.type("exit\n", None)
        assert terminal.ended() == 0


class _Terminal:
    def __init__(self, command, environment):
        self._mine, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
            preexec_fn=lambda: _take(theirs),
        )  # fmt: skip
        os.close(theirs)
        self._seen = ""

    def type(self, text, expected):
        os.write(self._mine, text.encode())
        if expected is not None:
            self.until(expected)

    def until(self, expected, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while expected not in self._seen:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._mine], [], [], 0.1)[0]:
                self._seen += os.read(self._mine, 4096).decode()
        self._seen = self._seen.partition(expected)[2]

    def stop(self):
        """Presses Ctrl-C, again where it came after the prompt and before this Python waits for keys: then it is unseen."""
        for _ in range(12):
            os.write(self._mine, b"\x03")
            with contextlib.suppress(AssertionError):
                return self.until("hudi> ", seconds=5)
        raise AssertionError(self._seen)

    def ended(self):
        return self._process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        os.close(self._mine)


def _take(terminal):
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
