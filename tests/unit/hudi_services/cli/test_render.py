"""Pages in a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from hoodie import CLEAN, COMPACTION, HoodieTable
from hudi_services.cli.commands.show import diff, show
from hudi_services.cli.program import main
from tests.support.tables import SMALL_BLOOM, batch, create

LONG = "a_partition_with_a_name_that_says_much_too_much_about_its_rows"


@pytest.fixture
def named(tmp_path):
    """A merge-on-read table with long names, wide characters, logs, a consumer, an open plan, a savepoint and deletions."""
    path = tmp_path / ("a_folder_with_a_long_name_" * 3) / "顧客の注文と返品の一覧表"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    for number in range(3):
        table.write(batch([(f"key_{number}" * 12, f"{LONG}_{place}", number, 1) for place in "ab"]), "insert")
    table.write(batch([("key_0" * 12, f"{LONG}_a", 5, 5)]), "upsert", SMALL_BLOOM)
    table.savepoint(comments="顧客 " * 30)
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
    table.consumer("a_dashboard_with_a_name_" * 3).reset("earliest")
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    (path / ".hoodie" / "lock").write_text('{"lockThreadName": "%s"}' % ("another machine " * 9))
    return table


def lines_of(capsys: pytest.CaptureFixture[str], table: HoodieTable, *words: str) -> list[str]:
    assert main([*words, f"--target-base-path={table.base_path}"]) in (0, 1)
    printed = capsys.readouterr()
    assert not printed.err
    return re.sub("\x1b\\[[0-9;]*m", "", printed.out).splitlines()


def test_no_line_of_a_page_is_longer_than_the_terminal(named, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    file = named.file_slices()[0].base_file.path
    more = {"file": (file,), "changes": ("--rows=3",), "timeline": ("--archived",), "audit": ("--path=*",)}
    looks = [(show.name, word, *more.get(word, ())) for word in show.commands]
    looks.append((diff.name, named.timeline.commits[0].time, "--rows=3"))
    for words in looks:
        for columns in ("80", "43"):
            monkeypatch.setenv("COLUMNS", columns)
            lines = lines_of(capsys, named, *words)
            assert lines, words
            prose = [line for line in lines if not line.lstrip().startswith("$ ")]  # commands are pasted
            assert [line for line in prose if cell_len(line) > int(columns)] == [], words


def test_columns_that_are_left_out_are_named_and_come_back(named, capsys, monkeypatch):
    piped = lines_of(capsys, named, "show", "commits")
    monkeypatch.setenv("COLUMNS", "80")
    narrow = lines_of(capsys, named, "show", "commits")
    assert narrow[0].split()[:2] == ["instant", "operation"]
    assert "rows written" not in narrow[0]
    assert narrow[-1].startswith("left out: ")
    assert "--wide" in narrow[-1]
    assert lines_of(capsys, named, "show", "commits", "--wide") == piped
    assert "rows written" in piped[0]
    assert lines_of(capsys, named, "show", "files")[0] == "── 1 ──"


def test_numbers_are_at_the_right(named, capsys):
    header, *rows = lines_of(capsys, named, "show", "rows")[2:]
    ends = {header.index(name) + len(name) for name in ("ts", "value") if name in header}
    assert ends
    assert all(row[end - 1].isdigit() and row[end : end + 1] in ("", " ") for row in rows for end in ends)
