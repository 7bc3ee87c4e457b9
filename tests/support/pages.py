"""The contents of documentation pages: blocks of code, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from hudi_services.services.entries import ENTRIES

APPLICATIONS = {f"spark_apps/{entry.command.application}": entry.name for entry in ENTRIES if entry.command.application}


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and text of each block."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S)


def lines(text: str) -> Iterator[str]:
    """The lines of shell blocks, those that go on joined."""
    for language, block in blocks(text):
        if language in ("", "sh", "bash", "console"):
            yield from re.sub(r"\\\n\s*", "", block).splitlines()


def words(line: str) -> list[str]:
    """The arguments of the program in a line; nothing when it is not called there."""
    if line.lstrip().startswith("alias "):
        return []
    try:
        parts = shlex.split(line, comments=True)
    except ValueError:  # no line of a shell
        return []
    for number, part in enumerate(parts):
        if part == "hudi-services" or (part == "hudi_services" and parts[number - 1] == "-m"):
            rest = parts[number + 1 :]
            ends = [place for place, word in enumerate(rest) if word in ("|", ">", ">>", "&&", ";")]
            return rest[: ends[0]] if ends else rest
        if part in APPLICATIONS:
            return [APPLICATIONS[part], *parts[number + 1 :]]
    return []
