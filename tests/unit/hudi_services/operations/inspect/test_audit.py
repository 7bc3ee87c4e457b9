"""`show audit`: what was deleted, by time, instant and path."""

import json
from itertools import product

import pytest

from hoodie import CLEAN
from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def cleaned(tmp_path):
    """A table after two cleans, of which each deleted one file: of partition p, then of q; and their instants."""
    table = create(tmp_path / "t", FakeClock())
    cleans = []
    for partition in "pq":
        for step in range(3):
            table.write(batch([("a" + partition, partition, step, step)]), "upsert", SMALL_BLOOM)
        cleans.append(table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).results[0].start)
    return table, cleans


def shown(capsys, table, *flags):
    assert main(["show", "audit", "--target-base-path", table.base_path, "--json", *flags]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_newest_first(capsys, cleaned):
    table, cleans = cleaned
    found = shown(capsys, table)
    assert [row["instant"] for row in found["audit"]] == cleans[::-1]
    assert "files" not in found
    assert all(row["finished"] and row["files"] and row["bytes"] and row["by_whom"]["user"] for row in found["audit"])
    found = shown(capsys, table, "--limit", "1")
    assert ([row["instant"] for row in found["audit"]], found["older"]) == (cleans[1:], True)


def test_filters(capsys, cleaned):
    table, (first, second) = cleaned
    for flags, wanted in (
        (["--since", second], [second]),
        (["--until", first], [first]),
        (["--instant", first], [first]),
        (["--path", "part=q/"], [second]),
        (["--path", "part=q/*.parquet"], [second]),
        (["--path", "*.log"], []),
        (["--since", "2099-01-01"], []),
    ):
        assert [row["instant"] for row in shown(capsys, table, *flags)["audit"]] == wanted, flags
    assert [file["path"][:7] for file in shown(capsys, table, "--path", "part=q/")["files"]] == ["part=q/"]


def test_times_as_people_say_them(capsys, cleaned):
    """The cleans were a moment ago by a clock of the past."""
    table, cleans = cleaned
    for flags, wanted in (
        (["--since", "yesterday"], []),
        (["--until", "Today"], cleans),
        (["--since", "12h"], []),
        (["--until", "30m"], cleans),
        (["--since", "90000d"], cleans),
    ):
        assert [row["instant"] for row in shown(capsys, table, *flags)["audit"]] == wanted[::-1], flags


def test_what_is_no_time_is_told_with_its_option(capsys, cleaned):
    table, _ = cleaned
    texts = ("tomorrow", "7 days", "", "9999999d", "999999d", "-1h", "٣d")
    for look, text in product(("audit", "commits", "timeline"), texts):
        assert main(["show", look, "--target-base-path", table.base_path, f"--since={text}"]) == 2
        told = capsys.readouterr().err
        assert f"--since {text!r} is no time" in told
        assert "yesterday" in told


def test_as_text(capsys, cleaned):
    table, cleans = cleaned
    assert main(["show", "audit", "--target-base-path", table.base_path, "--instant", cleans[0]]) == 0
    told = capsys.readouterr().out
    assert "part=p/" in told
    assert "policy KEEP_LATEST_COMMITS" in told


def test_none(capsys, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    assert main(["show", "audit", "--target-base-path", table.base_path]) == 0
    assert "no such action" in capsys.readouterr().out
