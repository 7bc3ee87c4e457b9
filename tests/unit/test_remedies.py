"""The remedies in messages work: every command, flag, option and make target that a `fix=` names exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name

import click

from hoodie.config.catalogue import find
from hoodie.config.service_options import declared
from hoodie.errors import rollback_fix, unschedule_fix
from hudi_services.cli.program import cli
from tests.support.faults import assert_no_faults
from tests.support.pasted import usage_fault

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for root in ("plugins", "hudi_services") for path in (PROJECT / root).rglob("*.py"))
FOREIGN = {"--master", "--deploy-mode"}  # flags of spark-submit
NO_OPTIONS = {"hoodie.properties", "hoodie.some.key"}  # a file, and an example of how a line looks
PROCEDURES = {"run_clustering"}  # Hudi's, in Spark SQL


def _texts() -> Iterator[tuple[str, str]]:
    """The place of each remedy, and its words in the code; a computed part is `{}`."""
    for path in SOURCES:
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "fix=" in text or "finding" in text else ():
            if isinstance(node, ast.keyword) and node.arg == "fix":
                yield f"{path.relative_to(PROJECT)}:{node.value.lineno}", "".join(_words(node.value))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "finding":
                yield from ((f"{path.relative_to(PROJECT)}:{node.lineno}", "".join(_words(a))) for a in node.args[1:])


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.FormattedValue):
        yield "{}"
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _words(inner)


SHARED = [("hoodie.errors", rollback_fix("1")), ("hoodie.errors", unschedule_fix("1"))]
REMEDIES = [*_texts(), *SHARED]


def _flags(command: click.Command) -> set[str]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    own = {flag for parameter in command.params for flag in parameter.opts}
    return own.union(*map(_flags, inner))


def _is_code(name: str) -> bool:
    """Says whether it is a module of the library, or something in one."""
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def _exists(steps: list[str]) -> bool:
    """Says whether the words after `hudi-services` begin with a command, and with one of its own where it is a group."""
    command: click.Command | None = cli
    while isinstance(command, click.Group):
        command = command.commands.get(steps.pop(0)) if steps else None
    return command is not None


def test_there_are_remedies():
    assert len(REMEDIES) > 200
    assert sum("hoodie." in text for _, text in REMEDIES) > 10


def test_no_message_asks_for_a_rollback_that_no_command_does():
    asked = re.compile(r"\broll(ing)? (\w+ ){0,5}back")
    assert [where for where, text in REMEDIES if asked.search(text) and "hudi-services rollback" not in text] == []


def test_every_command_that_code_names_exists():
    named = [found for path in SOURCES for found in re.findall(r"`hudi-services ([a-z -]+)", path.read_text())]
    assert named
    assert [command for command in named if not _exists(command.split())] == []


def _strings() -> Iterator[tuple[str, str]]:
    """The place of each text that is no docstring, in files that name the program; a computed part is `{}`."""
    for path in SOURCES:
        text = path.read_text()
        if "hudi-services" not in text:
            continue
        tree = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
        for node in ast.walk(tree):
            whole = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and id(node) not in parts)
            if whole and id(node) not in docs:
                yield f"{path.relative_to(PROJECT)}:{node.lineno}", "".join(_words(node))


def test_every_command_of_a_message_parses_as_it_is_pasted():
    """Commands whose service is computed have tests of their own."""
    named = [
        (where, command)
        for where, text in [*_strings(), *SHARED]
        for command in re.findall(r"`(hudi-services (?!{)[^`]+)`", text)
    ]
    assert len(named) > 100
    assert_no_faults(f"{where}: {command}: {fault}" for where, command in named if (fault := usage_fault(command)))


def _check_names(pattern: str, known: Callable[[str], object]) -> None:
    """Check that everything of the pattern that a remedy names is known."""
    found = [(where, name) for where, text in REMEDIES for name in re.findall(pattern, text)]
    assert found
    assert_no_faults(f"{where}: {name}" for where, name in found if not known(name))


def test_every_flag_of_a_remedy_exists():
    flags = _flags(cli) | FOREIGN
    _check_names(r"(?<![\w-])--[a-z][a-z-]+", flags.__contains__)


def test_every_option_of_a_remedy_exists():
    def known(name: str) -> bool:
        return name in NO_OPTIONS or declared(name) is not None or find(name) is not None or _is_code(name)

    _check_names(r"\bhoodie\.[a-z0-9_.]*[a-z0-9_]", known)


def test_every_make_target_of_a_remedy_exists():
    targets = set(re.findall(r"^([a-z0-9-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    _check_names(r"`make (\w+)`", targets.__contains__)


def test_every_procedure_of_a_remedy_exists():
    _check_names(r"\bcall (\w+)", PROCEDURES.__contains__)
