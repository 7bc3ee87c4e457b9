"""Exit codes, what a service says, and paths that are no table."""

from __future__ import annotations

import json
import re

import pytest

from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, clean, everything, ingest, said


def test_a_service_that_is_done_exits_0_and_tells_what_it_did(path, land, tmp_path, capsys):
    result = tmp_path / "results" / "r.json"
    assert ingest(path, land, f"--result-path={result}") == DONE
    assert "ingest: 1 row inserted, 0 updated, 0 deleted; 1 file loaded" in capsys.readouterr().out
    assert json.loads(result.read_text())["rows_inserted"] == 1
    assert ingest(path, land, "--json") == DONE
    assert json.loads(capsys.readouterr().out)["message"] == "nothing to do: 0 files to load; 1 loaded before"
    assert clean(path) == DONE
    assert re.match(r"clean: 2 files removed; ", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["compost"],
        ["clean"],
        ["clean", "--target-base-path=x", "--force"],
        ["ingest", "--target-base-path=x"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--source-format=xml"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--max-bad-share=2"],
        ["ingest", "--target-base-path=x", "--source-path=y", "--from=2024-02-30"],
        ["clean", "--target-base-path=x", "--props=/nowhere/x.properties"],
        ["clean", "--target-base-path=x", "--hoodie-conf=hoodie.clean.policy"],
        ["clean", "--target-base-path=x", "--hoodie-conf==1"],
        ["clean", "--target-base-path=x", "--spark-master=local[2]"],
        ["show", "everything", "--target-base-path=x"],
    ],
)
def test_wrong_usage_exits_2_with_words(arguments, capsys):
    assert main(arguments) == USAGE
    assert said(capsys).strip()


@pytest.mark.parametrize("arguments", [["--help"], ["ingest", "--help"], ["show", "-h"]])
def test_help_exits_0(arguments, capsys):
    assert main(arguments) == DONE
    assert "Usage: hudi-services" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["clean"], ["show", "table"], ["unlock", "--yes"]])
def test_a_path_that_is_no_table(tmp_path, arguments, capsys):
    (tmp_path / "data.csv").write_text("x")
    before = everything(tmp_path)
    assert main([*arguments, f"--target-base-path={tmp_path}"]) == FAILED
    printed = " ".join(
        "".join(capsys.readouterr()).split()
    )  # `show table` prints it as advice, which is broken into lines
    assert "is not a Hudi table" in printed
    assert everything(tmp_path) == before


def test_a_folder_with_other_files_is_not_made_a_table(tmp_path, land, capsys):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data.csv").write_text("x")
    before = everything(tmp_path)
    for explain in ([], ["--explain"]):
        assert ingest(tmp_path / "other", land, *explain) == FAILED
        assert "and other files: data.csv. To do: choose an empty path, where `hudi-services boot" in said(capsys)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "arguments", [["ingest", "--dry-run"], ["compact", "--dry-run", "--table=x"], ["rollback", "--dryrun"]]
)
def test_other_words_for_a_plan_name_the_flag(arguments, capsys):
    assert main(arguments) == USAGE
    assert "No such option '--dry" in (told := capsys.readouterr().err)
    assert "Use --explain, which prints the plan and changes nothing." in told
    assert main(["show", "--dry-run"]) == USAGE
    assert "--explain" not in capsys.readouterr().err
