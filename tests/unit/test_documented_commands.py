"""Commands in the documentation exist with their flags, those of the README run, docs/reference/cli.md is up to date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import yaml

from hudi_services.cli.program import cli, main
from tests.support.faults import assert_no_faults
from tests.support.pages import lines, words
from tests.support.scripts import script

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documented() -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for line in lines(page.read_text()):
            if found := words(line):
                yield page.name, found
    for path, command in commands(cli, ()):
        for line in re.sub(r"\\\n\s*", "", (command.epilog or "").partition("Examples:")[2]).splitlines():
            if found := words(line):
                yield " ".join(path), found


def commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


_OF_ALL = ("advise", "doctor", "history", "objectives")  # commands that take all tables where none is named


def named(arguments: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that the arguments begin with, and what follows.

    Raises click.UsageError where no command has that name.
    """
    command: click.Command = cli
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        if arguments[0] not in command.commands:
            raise click.UsageError(f"no such command: {arguments[0]}")
        command, arguments = command.commands[arguments[0]], arguments[1:]
    return command, arguments


ALL = list(documented())


def test_a_command_that_is_shown_exists_with_its_flags():
    assert_no_faults(
        f"{page}: {' '.join(arguments)}: {fault}" for page, arguments in ALL if (fault := _fault(arguments))
    )


def _fault(arguments: list[str]) -> str | None:
    """Return what is wrong with a command line."""
    try:
        command, rest = named(arguments)
        context = click.Context(command, **command.context_settings)
        given, _, _ = command.make_parser(context).parse_args(list(rest))
        for parameter in command.params:
            value = given.get(parameter.name)
            if value is not None and not isinstance(value, type(click.core.UNSET)):
                parameter.type_cast_value(context, value)
    except click.ClickException as error:
        return error.format_message()
    takes_table = "table" in {parameter.name for parameter in command.params} and command.name not in _OF_ALL
    return "it names no table" if takes_table and not {"table", "target_base_path"} & set(given) else None


def test_there_are_commands_to_check():
    assert len({page for page, _ in ALL}) > 10
    assert len(ALL) > 30


def test_a_command_that_is_named_in_the_text_exists():
    spans = [(page.name, span) for page in PAGES for span in re.findall(r"`hudi-services ([^`\n]+)`", page.read_text())]
    assert len(spans) > 50
    assert_no_faults(f"{page}: {span}" for page, span in spans if not _is_command(span))


def _is_command(span: str) -> bool:
    """Return whether the words of a span are a command and flags of it."""
    try:
        command, rest = named([word for word in span.split() if re.fullmatch(r"[a-z-]+", word)])
    except click.UsageError:
        return False
    known = {flag for parameter in command.params for flag in parameter.opts} | {"-h", "--help", "--version"}
    return {word for word in rest if word.startswith("--")} <= known


def test_the_readmes_commands_run(tmp_path, monkeypatch, capsys):
    """With the registry of the README, in another folder."""
    text = (ROOT / "README.md").read_text()
    registry = next(block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if "name: orders" in block)
    assert yaml.safe_load(registry)
    (tmp_path / "tables.yaml").write_text(registry.replace("/data/", f"{tmp_path}/data/"))
    land = tmp_path / "data" / "landing" / "orders" / "dt=2026-01-01"
    land.mkdir(parents=True)
    (land / "a.csv").write_text("order_id,order_date,updated_at,total\n007,2026-01-01,2026-01-01T10:00:00,12.50\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HUDI_REGISTRY", raising=False)
    ran = [found for line in lines(text) if (found := words(line))]
    assert len(ran) >= 5
    for arguments in ran:
        assert main(arguments) == 0, arguments
    assert "1 in base files" in capsys.readouterr().out


def test_the_page_of_the_command_line_is_made_anew():
    make = script("docs/make_cli.py")
    assert make.PAGE.read_text() == make.page(), "run `make cli-docs`"
