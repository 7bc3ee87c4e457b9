"""What messages tell people to do can be done."""

from __future__ import annotations

import re
from pathlib import Path

import hoodie
from hudi_services.cli import cli

SOURCES = sorted(Path(hoodie.__file__).parent.rglob("*.py"))


def test_no_message_asks_for_a_rollback_that_no_command_does():
    asked = re.compile(r"""fix=.*["'](?!.*HUDI_)[^"']*\broll(ing)? (\w+ ){0,5}back""")
    found = [
        f"{path.name}:{n}"
        for path in SOURCES
        for n, line in enumerate(path.read_text().splitlines(), 1)
        if asked.search(line)
    ]
    assert found == []


def test_every_command_that_a_message_names_exists():
    named = {word for path in SOURCES for word in re.findall(r"`hudi-services ([a-z-]+)", path.read_text())}
    assert named
    assert named <= set(cli.commands)
