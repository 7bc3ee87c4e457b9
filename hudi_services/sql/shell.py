"""The shell of `hudi-services sql`: statements as they are typed, their rows, and errors after which it goes on."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from hoodie.display import counted
from hoodie.errors import HoodieError
from hoodie.sql import Connection, Result
from hudi_services.runtime.terminal import echo
from hudi_services.sql.lines import Lines, completions, one_line
from hudi_services.sql.output import print_table

_PROMPT, _MORE = "hudi> ", "   -> "
_ENDS = ("\\q", "quit", "exit")
_KEPT = 10_000  # statements of the history
_SECRET = re.compile("secret|password|token|access.?key", re.IGNORECASE)  # no statement with such a word is kept
_HELP = """\
Statements end with a semicolon. Tab completes keywords, tables and columns.
\\d           tables of the database        \\d TABLE     columns of a table
\\x           rows down the page, or back   \\timing      no rows and seconds, or back
\\? or help   this text
\\q or exit   leave (also Ctrl-D)           Ctrl-C       drops what is typed, or stops what runs"""


class Shell:
    """One session on a terminal."""

    def __init__(self, connection: Connection, run: Callable[[str], Iterable[Result]], *, wide: bool = False) -> None:
        """`run` gives what the statements of a text give; it may show their progress. Rows that are wider than the terminal go
        down the page, unless they may be `wide`."""
        self._connection = connection
        self._run = run
        self._lines = Lines()
        self._timed = True
        self._vertical = False
        self._wide = wide

    def loop(self, read: Callable[[str], str] = input) -> None:
        """Read and run until Ctrl-D or a word that leaves. `read` gives a line without its end, and raises EOFError at the
        last."""
        with _Typing(self._complete) as typing:
            while True:
                try:
                    line = read(_MORE if self._lines.is_open else _PROMPT)
                except EOFError:
                    echo()
                    return
                except KeyboardInterrupt:
                    echo("^C")
                    self._lines.forget()
                    continue
                if not self._lines.is_open and line.strip().rstrip(";").lower() in _ENDS:
                    return
                self._line(line, typing)

    def _line(self, line: str, typing: _Typing) -> None:
        try:
            command = None if self._lines.is_open else self._shell_command(line.strip().rstrip(";").strip())
            if command is not None:
                command()
                return
            for statement in self._lines.add(line):
                typing.keep(statement)
                self._statement(statement)
        except HoodieError as error:
            echo(f"{type(error).__name__}: {error}", err=True)
            if self._lines.is_open:  # it was meant to follow what has failed
                self._lines.forget()
                echo("The rest of the line was not run.", err=True)
        except KeyboardInterrupt:
            self._lines.forget()
            echo("^C: stopped; what was not committed is not there", err=True)

    def _shell_command(self, line: str) -> Callable[[], None] | None:
        """The action of one of the shell's own words; None for SQL."""
        word, _, about = line.partition(" ")
        if line in ("\\?", "help"):
            return lambda: echo(_HELP)
        if line == "\\timing":
            return self._time
        if line == "\\x":
            return self._turn
        if word == "\\d":
            return lambda: self._statement(f"DESCRIBE TABLE {about}" if about else "SHOW TABLES")
        if word.startswith("\\"):
            return lambda: echo(f"There is no {word}: \\? lists what there is", err=True)
        return None

    def _time(self) -> None:
        self._timed = not self._timed
        echo(f"rows and seconds are {'shown' if self._timed else 'not shown'}")

    def _turn(self) -> None:
        self._vertical = not self._vertical
        echo(f"rows go {'down the page' if self._vertical else 'across the page'}")

    def _statement(self, text: str) -> None:
        start = time.perf_counter()
        for result in self._run(text):
            rows = ""
            if result.message is not None:
                echo(result.message)
            else:
                print_table(result, vertical=self._vertical, wide=self._wide)
                if result.note is not None:
                    echo(result.note)
                rows = f"{counted(len(result), 'row')}, "
            if self._timed:
                echo(f"({rows}{time.perf_counter() - start:.2f} s)")
            start = time.perf_counter()

    def _complete(self, before: str, word: str) -> list[str]:
        session = self._connection.session

        def tables() -> list[str]:
            return [table.name for table in session.catalog.tables(session.database)]

        def columns(name: str) -> list[str]:
            return [row[0] for row in self._connection.sql(f"SHOW COLUMNS IN `{name}`").rows()]

        try:
            return completions(before, word, tables, columns)
        except HoodieError:  # it only helps to type
            return []


class _Typing:
    """The editor of lines of this Python, where it has one: history over sessions, completion by Tab."""

    def __init__(self, complete: Callable[[str, str], list[str]]) -> None:
        self._complete = complete
        self._candidates: list[str] = []
        self._file = _state() / "sql_history"

    def __enter__(self) -> _Typing:
        try:
            import readline
        except ImportError:
            self._readline = None
            return self
        self._readline = readline
        readline.set_auto_history(False)
        readline.set_history_length(_KEPT)
        with suppress(OSError):
            readline.read_history_file(self._file)
        readline.set_completer_delims(" \t\n,;()=<>+-*/'\"")
        readline.set_completer(self._next)
        readline.parse_and_bind("tab: complete")
        return self

    def __exit__(self, *_failed: object) -> None:
        if self._readline is None:
            return
        self._readline.set_completer(None)
        self._readline.set_auto_history(True)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._file, os.O_CREAT | os.O_WRONLY, 0o600))  # other users cannot read the statements
            self._readline.write_history_file(self._file)
        except OSError as error:
            echo(f"warning: the history is not kept: {error}", err=True)

    def keep(self, statement: str) -> None:
        """Add a statement to the history, if it may be kept there."""
        line = one_line(statement)
        if self._readline is not None and sys.stdin.isatty() and line is not None and not _SECRET.search(line):
            self._readline.add_history(f"{line};")

    def _next(self, word: str, number: int) -> str | None:
        assert self._readline is not None
        if number == 0:
            self._candidates = self._complete(self._readline.get_line_buffer(), word)
        return self._candidates[number] if number < len(self._candidates) else None


def _state() -> Path:
    """The folder in which programs keep the state of a user."""
    state_home = os.environ.get("XDG_STATE_HOME")
    return Path(state_home or Path.home() / ".local" / "state") / "hudi-services"
