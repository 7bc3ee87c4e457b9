"""Common features of all commands: help with examples, JSON, the version, completion, close names."""

from __future__ import annotations

import json

import click
import pytest

from hudi_services import __version__
from hudi_services.cli.program import cli, main
from tests.support.cli import DONE, USAGE, said
from tests.support.faults import assert_no_faults


def commands(group=cli, path=()):
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands())


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_an_example_of_each_command(flag, capsys):
    wrong = []
    for path in ALL:
        done = main([*path, flag])
        shown = capsys.readouterr().out
        name = "hudi-services " + " ".join(path)
        usage, _, examples = shown.partition("Examples:")
        if done != DONE or f"Usage: {name}" not in usage or name not in examples:
            wrong.append(f"{name}: no usage or no example")
        if len(max(shown.splitlines(), key=len, default="")) > 110:
            wrong.append(f"{name}: a line of more than 110 characters")
    assert len(ALL) > 30
    assert_no_faults(wrong)


def test_every_command_takes_json_and_verbose():
    missing = {
        " ".join(path): {"--json", "--verbose", "-v"}
        - {flag for parameter in command.params for flag in parameter.opts}
        for path, command in ALL.items()
        if path not in {("completion",), ("airflow",)}
    }
    assert_no_faults(f"{name}: {flags}" for name, flags in missing.items() if flags)


@pytest.mark.parametrize("path", [[], ["show"], ["registry"]])
def test_lists_of_commands_cut_nothing_short(path, capsys):
    assert main([*path, "--help"]) == DONE
    shown = capsys.readouterr().out
    assert "..." not in shown.replace("[ARGS]...", "")


def test_the_version(capsys):
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out == f"hudi-services, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "close"),
    [
        (["clen"], "Did you mean 'clean'?"),
        (["show", "comits"], "commits"),
        (["registry", "chek"], "Did you mean 'check'?"),
        (["clean", "--tabel=x"], "--table"),
    ],
)
def test_a_wrong_name_is_told_with_the_close_one(arguments, close, capsys):
    assert main(arguments) == USAGE
    assert close in said(capsys)
    assert main([*arguments, "--json"]) == USAGE
    assert close in json.loads(capsys.readouterr().out)["what"]


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")])
def test_completion(shell, word, capsys):
    assert main(["completion", shell]) == DONE
    script = capsys.readouterr().out
    assert word in script
    assert f"_HUDI_SERVICES_COMPLETE={shell}_complete" in script
