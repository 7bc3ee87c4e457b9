"""`show changes`: counts for each commit, and at most as many changes as a user asks for."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import create


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c\x1b[31m", "q", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("d", "q", 2, 2)])
    write(table, [("b", "p", 3, 1)], "delete")
    return table


def shown(capsys, table, *flags):
    assert main(["show", "changes", "--target-base-path", table.base_path, *flags]) == 0
    return capsys.readouterr().out


def test_counts_and_rows(table, capsys):
    first, second, third = (str(commit.completion_time) for commit in table.timeline.commits)
    whole = json.loads(shown(capsys, table, "--json"))
    counts = [(row["completed"], row["inserted"], row["updated"], row["deleted"]) for row in whole["commits"]]
    assert counts == [(first, 3, 0, 0), (second, 1, 1, 0), (third, 0, 0, 1)]
    assert (whole["inserted"], whole["updated"], whole["deleted"], "changes" in whole) == (4, 1, 1, False)
    some = json.loads(
        shown(capsys, table, "--since", first, "--until", second, "--columns", "id,value", "--rows", "5", "--json")
    )
    assert [(row["op"], row["key"], row["before"], row["after"]) for row in some["changes"]] == [
        ("u", "a", {"id": "a", "value": 1}, {"id": "a", "value": 2}),
        ("i", "d", None, {"id": "d", "value": 2}),
    ]
    net = json.loads(shown(capsys, table, "--net", "--filter", "part = 'p'", "--rows", "1", "--json"))
    assert [(row["op"], row["after"]["value"]) for row in net["changes"]] == [("i", 2)]
    assert net["inserted"] == 1


def test_the_newest_commits(table, capsys):
    whole = json.loads(shown(capsys, table, "--json"))["commits"]
    newest = json.loads(shown(capsys, table, "--last", "2", "--json"))["commits"]
    assert [{name: row[name] for name in whole[0]} for row in newest] == whole[:0:-1]
    assert newest[0]["completed_at"].startswith(f"{newest[0]['completed'][:4]}-")
    few = json.loads(shown(capsys, table, "--last", "2", "--most-bytes", "1", "--json"))["commits"]
    assert [row["inserted"] for row in few] == [None, None]
    assert "too many bytes" in shown(capsys, table, "--last", "2", "--most-bytes", "1")


def test_a_terminal_does_not_obey_values(table, capsys):
    text = shown(capsys, table, "--rows", "3", "--width", "20")
    assert "\x1b" not in text
    assert r"c\u001b[31m" in text
    assert "…" in text
    assert "4 inserted, 1 updated, 1 deleted" in text


def test_mistakes(table, capsys):
    for flags, words in (
        (("--since", "soon"), "--since"),
        (("--columns", "nope"), "nope"),
        (("--filter", "x ="), "x"),
        (("--last", "1", "--net"), "--net"),
        (("--most-bytes", "1"), "--last"),
    ):
        assert main(["show", "changes", "--target-base-path", table.base_path, *flags]) == 2
        assert words in capsys.readouterr().err
