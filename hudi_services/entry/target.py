"""A table as the flags of commands name it."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

_COMMAND = re.compile(r"`(hudi-services [^`]+)`")
_OF_SHELL = re.compile(r"`((?:hudi-services|sudo|mkdir|aws) [^`]+)`")
_LOSING = (" consumer reset ", " consumer delete ")  # commands that give up changes: no paste may do that unread
_LOAD = re.compile(r"hudi-services ingest\b(?!.*--source)")
_OPERATION = re.compile(r"--operation (\w+)")
_OTHER_WAY = re.compile(r"\b[Oo]r\b")
_CONDITION = re.compile(r"\b(?:[Ii]f|[Oo]nce)\b")
_WORD = re.compile(r"[a-z][a-z0-9-]*")
_AND_THEN = " && \\"  # the shell reads on
_MOST_WORDS = 3  # words of a command in a sentence


def shell_commands(text: str) -> tuple[str, ...]:
    """The commands that a text names between backticks, each one once, without those that give up changes."""
    harmless = (command for command in _OF_SHELL.findall(text) if not any(losing in command for losing in _LOSING))
    return tuple(dict.fromkeys(harmless))


def registry_flag(registry: str | None) -> str:
    """The flag behind a command that names its registry; empty for the one that commands find by themselves."""
    return f" --registry {shlex.quote(registry)}" if registry else ""


def _way(commands: Sequence[str]) -> Iterator[str]:
    """The lines of commands that a shell runs one after the other, up to the first that fails."""
    for number, command in enumerate(commands):
        yield f"{' ' if number else '$'} {command}{_AND_THEN if number < len(commands) - 1 else ''}"


@dataclass(frozen=True)
class Target:
    """A table by the flags that choose it, as a shell reads them. `registry` is the file, if commands have to name it. `loads` is
    False for a table without a source from which `ingest` could load it."""

    flags: str
    registry: str | None = None
    loads: bool = True

    @classmethod
    def of(cls, base_path: str, name: str | None, registry: str | None = None, *, loads: bool = True) -> Target:
        """The flags for a table of a registry, by its name, or for one by its path alone, whose source no text knows."""
        if name is None:
            return cls(f"--target-base-path {shlex.quote(base_path)}", loads=False)
        return cls(f"--table {shlex.quote(name)}{registry_flag(registry)}", registry, loads)

    @staticmethod
    def in_words(text: str, commands: Iterable[str]) -> str:
        """The text, in which each of these commands is named by its first words: each has a line of its own."""
        for command in sorted(commands, key=len, reverse=True):
            last = command.rpartition("&& ")[2].split()
            words = itertools.takewhile(_WORD.fullmatch, itertools.islice(last, _MOST_WORDS))
            text = text.replace(command, " ".join(words))
        return text

    @staticmethod
    def command_lines(text: str, commands: Iterable[str]) -> Iterator[str]:
        """Lines to paste: the commands of the text, with `or` between those of different ways. Those of a way are one command of
        a shell: it reads all before the first prompts, and the first failure ends them. A command for a case that the text
        names, or for later, is alone."""
        way: list[str] = []
        end = 0
        for command in commands:
            start = text.find(command, end)
            between = text[end:start] if end and start >= 0 else None
            is_other = between is not None and _OTHER_WAY.search(between) is not None
            if way and (between is None or is_other or _CONDITION.search(between)):
                yield from _way(way)
                way = []
            if is_other:
                yield "or"
            way.append(command)
            end = start + len(command) if start >= 0 else end
        yield from _way(way)

    def command(self, words: str) -> str:
        """A command of this program on the table."""
        return f"hudi-services {words} {self.flags}"

    def first_command(self, text: str) -> str:
        """The first command that a text names between backticks, completed with the table; empty if it names none."""
        match = _COMMAND.search(text)
        return self._completed(match[1]) if match is not None else ""

    def with_commands(self, text: str, takes_table: Callable[[str], bool] = lambda _command: True) -> str:
        """The text, in which each command between backticks that `takes_table` is completed with the table. Loads of a table
        without a source are those of the program that writes it."""

        def completed(match: re.Match[str]) -> str:
            command = match[1]
            if self._lacks_source(command):
                operation = _OPERATION.search(command)
                return f"a load by the program that writes it{f' ({operation[1]})' if operation is not None else ''}"
            return f"`{self._completed(command)}`" if takes_table(command) else match[0]

        return _COMMAND.sub(completed, text)

    def commands(self, text: str) -> tuple[str, ...]:
        """The commands that a text names between backticks, completed with the table, each one once, without loads of a table
        that has no source."""
        named = (command for command in shell_commands(text) if not self._lacks_source(command))
        return tuple(dict.fromkeys(self._completed(command) for command in named))

    def _lacks_source(self, command: str) -> bool:
        return not self.loads and _LOAD.match(command) is not None

    def _completed(self, command: str) -> str:
        if not command.startswith("hudi-services "):
            return command
        return command if "--table" in command or "--target-base-path" in command else f"{command} {self.flags}"
