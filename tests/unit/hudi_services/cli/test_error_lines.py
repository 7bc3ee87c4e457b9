"""Errors in a terminal: parts on lines of their own that fit, and commands to paste. Elsewhere they stay in one line."""

from __future__ import annotations

import os
import pty
import sys
from contextlib import suppress

import pytest

from hoodie.errors import ConfigError, CorruptTableError
from hudi_services.cli.error_lines import error_lines
from tests.support.cli import main

LONG = "/data/lake/a/long/path/of/a/table"


def test_each_part_has_its_lines_and_each_command_its_own():
    error = CorruptTableError(
        f"Table {LONG} has lost its timeline",
        found="no instant in .hoodie/timeline",
        fix="run `hudi-services doctor --table a --fix`, or `hudi-services rollback --table a --instant 2026` in a calm moment",
    )
    assert list(error_lines(error, 40, "hudi-services")) == [
        "hudi-services: CorruptTableError: Table",
        f"{LONG} has",
        "lost its timeline",
        "Found: no instant in .hoodie/timeline",
        "To do: run `hudi-services doctor`, or",
        "`hudi-services rollback` in a calm",
        "moment",
        "$ hudi-services doctor --table a --fix",
        "or",
        "$ hudi-services rollback --table a --instant 2026",
    ]


def test_lines_of_a_statement_stay_and_errors_of_arguments_have_no_kind():
    error = ConfigError("The statement is wrong\n  select 1 frm t\n           ^", fix="correct it")
    assert list(error_lines(error, 80, "hudi-services")) == [
        "hudi-services: The statement is wrong",
        "  select 1 frm t",
        "           ^",
        "To do: correct it",
    ]


def test_commands_that_give_up_changes_are_not_on_a_line_to_paste():
    error = ConfigError("A consumer is behind", fix="run `hudi-services consumer reset --name a`")
    assert list(error_lines(error, 80, "hudi-services"))[-1] == "To do: run `hudi-services consumer reset --name a`"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_lines_and_a_pipe_gets_one(tmp_path, monkeypatch, capsys, terminal):
    monkeypatch.chdir(tmp_path)
    arguments = ["show", "commits", "--target-base-path", f"{tmp_path}/nothing"]
    if not terminal:
        assert main(arguments) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
        return
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(arguments) == 1
    printed = b""
    with suppress(OSError):  # the end of a terminal without a writer
        while part := os.read(reader, 10_000):
            printed += part
    os.close(reader)
    printed = printed.decode().splitlines()
    assert printed[0].startswith("hudi-services: ")
    assert any(line.startswith("To do: ") for line in printed[1:])
    assert all(len(line) <= 120 or line.startswith("$ ") for line in printed)
