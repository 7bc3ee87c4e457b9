"""Errors: a line for people, an object for programs."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, clean, everything


def failed(capsys, arguments, code):
    assert main([*arguments, "--json"]) == code
    shown = capsys.readouterr()
    return json.loads(shown.out), shown.err


def test_a_program_gets_an_error_as_json_and_a_person_as_text(tmp_path, path, capsys):
    found, said = failed(capsys, ["clean", f"--target-base-path={tmp_path}/nothing"], FAILED)
    assert found["error"] == "TableNotFoundError"
    assert found["exit_code"] == FAILED
    assert found["what"] in said
    found, said = failed(capsys, ["clean", f"--target-base-path={path}", "--hoodie-conf=hoodie.clean.polcy=x"], USAGE)
    assert found["error"] == "ConfigError"
    assert "hoodie.clean.polcy" in found["what"]
    assert "hoodie.clean.policy" in found["fix"]
    found, said = failed(capsys, ["clean"], USAGE)
    assert found["error"] == "UsageError"
    assert "--target-base-path" in found["what"]
    assert "Usage: hudi-services clean" in said


def test_without_json_nothing_is_on_standard_output(tmp_path, capsys):
    assert main(["clean", f"--target-base-path={tmp_path}"]) == FAILED
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("empty", ["", " ", "file:"])
@pytest.mark.parametrize(
    "arguments", [["clean"], ["show", "table"], ["unlock", "--yes"], ["ingest", "--source-path=."]]
)
def test_an_empty_path_is_not_the_working_directory(path, monkeypatch, capsys, arguments, empty):
    monkeypatch.chdir(path)
    before = everything(path)
    assert main([*arguments, f"--target-base-path={empty}"]) == USAGE
    assert "path of the table or source is empty" in capsys.readouterr().err
    assert everything(path) == before


def test_an_empty_source_is_not_the_working_directory(path, monkeypatch, capsys):
    monkeypatch.chdir(path)
    assert main(["ingest", f"--target-base-path={path}", "--source-path="]) == USAGE
    assert "path of the table or source is empty" in capsys.readouterr().err


def test_a_pattern_that_is_none_is_named(tmp_path, capsys):
    arguments = ["bootstrap", f"--target-base-path={tmp_path}/t", f"--source-path={tmp_path}", "--mode-regex=("]
    assert main(arguments) == USAGE
    assert "give a regular expression (missing )" in capsys.readouterr().err


def test_the_path_of_the_test_is_a_table(path):
    assert clean(path) == DONE
