"""A table as the flags of commands name it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

_COMMAND = re.compile(r"`(hudi-services [^`]+)`")


def registry_flag(registry: str | None) -> str:
    """The flag behind a command that names its registry; empty for the one that commands find by themselves."""
    return f" --registry {shlex.quote(registry)}" if registry else ""


@dataclass(frozen=True)
class Target:
    """A table by the flags that choose it, as a shell reads them. `registry` is the file, if commands have to name it."""

    flags: str
    registry: str | None = None

    @classmethod
    def of(cls, base_path: str, name: str | None, registry: str | None = None) -> Target:
        """The flags for a table of a registry, by its name, or for one by its path alone."""
        if name is None:
            return cls(f"--target-base-path {shlex.quote(base_path)}")
        return cls(f"--table {shlex.quote(name)}{registry_flag(registry)}", registry)

    def command(self, words: str) -> str:
        """A command of this program on the table."""
        return f"hudi-services {words} {self.flags}"

    def first_command(self, text: str) -> str:
        """The first command that a text names between backticks, completed with the table; empty if it names none."""
        match = _COMMAND.search(text)
        return self._completed(match[1]) if match is not None else ""

    def with_commands(self, text: str, takes_table: Callable[[str], bool] = lambda _command: True) -> str:
        """The text, in which each command between backticks that `takes_table` is completed with the table."""
        return _COMMAND.sub(lambda match: f"`{self._completed(match[1])}`" if takes_table(match[1]) else match[0], text)

    def _completed(self, command: str) -> str:
        return command if "--table" in command or "--target-base-path" in command else f"{command} {self.flags}"
