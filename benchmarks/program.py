"""A program that answers each line of its standard input with one line of JSON. Its other lines are a log."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

_MARK = "answer: "


def reply(**values: object) -> None:
    """Answer, in the program."""
    print(_MARK + json.dumps(values), flush=True)


class Program:
    """A child that answers, with `folder` as its current one. It begins by saying that it is ready."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: by the end of its input, or by force if something failed."""
        if kind is not None:
            self._process.kill()
        self._process.communicate()

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and wait for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for the next answer. Raises RuntimeError for a program that ends without one."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(_MARK):
                answer: dict[str, Any] = json.loads(line.removeprefix(_MARK))
                return answer
        raise RuntimeError(f"{self._process.args!r} ended with exit code {self._process.wait()}")
