"""Names, values and comments of a table may be of anybody: no command prints a code that a terminal obeys."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hudi_services
from hudi_services.cli.program import main
from tests.support.tables import batch, create

EVIL = "\x1b]0;owned\x07\x9b2J\x7f\u202e\r"
ESCAPED = r"\u001b]0;owned\u0007\u009b2J\u007f\u202e\u000d"


@pytest.mark.parametrize("terminal", [False, True])
def test_no_command_prints_control_codes_of_a_table(tmp_path: Path, capsys, monkeypatch, terminal: bool) -> None:
    base = str(tmp_path / "t")
    table = create(base)
    first = table.write(batch([(EVIL, "p", 1, 1), ("b", f"q{EVIL}", 1, 1)])).instant.time
    table.savepoint(comments=f"why {EVIL}")
    second = table.write(batch([(f"c{EVIL}", f"q{EVIL}", 2, 2)])).instant.time
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("COLUMNS", "600")
    for words in (
        ["show", "table"],
        ["show", "partitions"],
        ["show", "files"],
        ["show", "rows"],
        ["diff", str(first), str(second), "--rows", "5"],
        ["rollback", "--instant", f"no{EVIL}", "--explain"],
        ["savepoint", "list"],
    ):
        main([*words, "--target-base-path", base])
        printed = "".join(capsys.readouterr())
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", re.sub("\x1b\\[[0-9;]*m", "", printed)), words
        assert "owned" in printed or words[1] == "table", words


def test_sql_prints_control_codes_as_json_does(tmp_path: Path, capsys) -> None:
    query = ["sql", "--warehouse", str(tmp_path), "-e", f"SELECT '{EVIL}' AS `a{EVIL}`"]
    assert main(query) == 0
    assert capsys.readouterr().out.count(ESCAPED) == 2
    assert main([*query, "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == {f"a{EVIL}": EVIL}
    assert ESCAPED.replace(r"\u000d", r"\r") in printed


def test_every_module_prints_by_this_one() -> None:
    folder = Path(hudi_services.__file__).parent
    texts = {path.relative_to(folder): path.read_text() for path in folder.rglob("*.py")}
    assert [str(path) for path, text in texts.items() if re.search(r"click\.(s?echo|print)\b|^\s+print\(", text)] == [
        "runtime/terminal.py"
    ]


@pytest.mark.parametrize("words", [[], ["--verbose"]])
def test_log_and_traceback_have_no_control_codes(tmp_path: Path, words: list[str]) -> None:
    """In a process of its own: tests see the log in another way."""
    base = tmp_path / "t"
    create(base).write(batch([("a", f"q{EVIL}", 1, 1)]))
    for file in base.rglob("*.parquet"):
        file.write_bytes(b"")
    command = ["show", "rows", "--target-base-path", str(base), *words]
    done = subprocess.run(
        [sys.executable, "-m", "hudi_services.cli.program", *command], capture_output=True, text=True, check=False
    )
    assert "owned" in done.stderr
    assert ("Traceback" in done.stderr) is bool(words)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.stderr)
