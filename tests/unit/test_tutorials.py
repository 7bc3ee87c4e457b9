"""The tutorials, step by step as they are written: their commands and their Python run, and show what the page says."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from hudi_services.cli.program import main
from hudi_services.runtime.folders import PROJECT
from tests.support.mariadb import MariaDB
from tests.support.pages import blocks, words

PAGES = sorted((PROJECT / "docs" / "get-started" / "tutorials").glob("*.md"))
_COMMAND = "hudi-services "


def run(block):
    """The lines of a shell: those of the program in this process, those between in bash."""
    others = ""
    for line in block.splitlines(keepends=True):
        if line.startswith(_COMMAND):
            bash(others)
            others = ""
            assert main(words(os.path.expandvars(line))) == 0, line
        else:
            others += line
    bash(others)


def bash(text):
    if text.strip():
        subprocess.run(["bash", "-ec", text], check=True)


def check_shown(wanted, shown):
    """Each line of a page, `…` for any text, is a line of the output, in this order."""
    lines = iter(shown.splitlines())
    for line in wanted.splitlines():
        pattern = re.compile(r"\s*".join(".*".join(map(re.escape, part.split("…"))) for part in line.split()))
        assert any(pattern.search(each) for each in lines), f"{line!r} is not in\n{shown}"


@pytest.fixture
def database(request, monkeypatch):
    """Function: statements -> None, run by a server of a page that has statements. Its connection is the one of the page."""
    if "```sql" not in request.getfixturevalue("page").read_text():
        yield None
        return
    server = MariaDB()
    monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", server.url)
    yield lambda text: server.run(*filter(None, map(str.strip, text.split(";\n"))))
    server.stop()


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_as_it_stands(page, database, tmp_path, monkeypatch, capfd):
    walk = tmp_path / "walk"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WALK", str(walk))
    monkeypatch.setenv("HUDI_REGISTRY", str(walk / "tables.yaml"))
    walk.mkdir()
    (_, setup), *rest = blocks(page.read_text())
    assert setup.startswith("make setup\n")  # done, as this test runs
    names, shown = {"WALK": str(walk)}, ""
    for language, block in rest:
        if language == "text":
            check_shown(block, shown)
        elif language == "yaml":
            if block.startswith(("tables:", "servers:")):
                (walk / "tables.yaml").write_text(block)
        elif language == "sql":
            database(block)
        elif language == "python":
            exec(compile(block, page.name, "exec"), names)
        else:
            assert language == "sh"
            run(block.replace("\\\n", " "))
        if language in ("python", "sh"):
            shown = capfd.readouterr().out
    assert shown, "the last step shows something"


def test_there_are_tutorials():
    assert {page.stem for page in PAGES} == {"bootstrap", "database", "merge-on-read", "whole-database"}
