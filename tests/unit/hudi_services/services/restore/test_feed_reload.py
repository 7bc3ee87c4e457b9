"""A rollback and a restore say which source files are loaded again, and skip them if a user asks for it."""

from __future__ import annotations

import json

import pytest

from hoodie import HoodieTable
from hoodie.timeline import Action
from hudi_services.cli.program import main
from hudi_services.services.restore import feed_reload as feeds

ROWS = {1: "id,v\na,1\n", 2: "id,v\nb,2\n", 3: "id,v\nc,3\n"}


@pytest.fixture
def table(tmp_path):
    """Three files, each loaded by a commit of its own. The first has a savepoint."""
    for number, text in ROWS.items():
        deliver(tmp_path, number, text)
        assert load(tmp_path) == 0
        if number == 1:
            HoodieTable.open(str(tmp_path / "t")).savepoint()
    return HoodieTable.open(str(tmp_path / "t"))


def deliver(tmp_path, number, text):
    (tmp_path / "land").mkdir(exist_ok=True)
    (tmp_path / "land" / f"{number}.csv").write_text(text)


def load(tmp_path):
    conf = ["hoodie.table.name=t", "hoodie.table.recordkey.fields=id"]
    flags = [part for each in conf for part in ("--hoodie-conf", each)]
    paths = [
        "--target-base-path",
        str(tmp_path / "t"),
        "--source-path",
        str(tmp_path / "land"),
        "--source-format",
        "csv",
    ]
    return main(["ingest", *paths, *flags])


def call(table, *words):
    return main([words[0], "--target-base-path", table.base_path, *words[1:]])


def ids(table):
    return sorted(table.read()["id"].to_pylist())


def test_a_rollback_names_the_files_and_the_next_run_loads_them(table, tmp_path, capsys):
    last = ("--instant", table.timeline.commits[-1].time)
    again = f"{tmp_path}/land/3.csv"
    capsys.readouterr()
    assert call(table, "rollback", *last, "--explain") == 0
    text = capsys.readouterr().out
    assert "the next run of the feed loads 1 file again" in text
    assert again in text
    assert "--skip-files" in text
    assert call(table, "rollback", *last, "--explain", "--json") == 0
    assert json.loads(capsys.readouterr().out)["loads_again"] == [again]
    assert call(table, "rollback", *last, "--yes", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["loads_again"] == [again]
    assert f"loads 1 file again: {again}" in result["message"]
    saved = table.timeline.completed(Action.SAVEPOINT)[0].time
    delete = f"savepoint delete --instant {saved} --target-base-path {table.base_path}"
    assert f"; savepoint {saved} stays. Cleans keep its files until `hudi-services {delete}`" in result["message"]
    assert ids(table) == ["a", "b"]
    assert load(tmp_path) == 0
    assert ids(table) == ["a", "b", "c"]


def test_a_restore_that_skips_the_files(table, tmp_path, capsys):
    saved = ("--savepoint", table.savepoints()[0].instant)
    capsys.readouterr()
    assert call(table, "restore", *saved, "--explain", "--json") == 0
    assert json.loads(capsys.readouterr().out)["loads_again"] == [f"{tmp_path}/land/{number}.csv" for number in (2, 3)]
    assert call(table, "restore", *saved, "--skip-files", "--yes", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["loads_again"] == []
    assert "2 source files stay marked as loaded" in result["message"]
    assert ids(table) == ["a"]
    deliver(tmp_path, 4, "id,v\nd,4\n")
    assert load(tmp_path) == 0
    assert ids(table) == ["a", "d"]


def test_the_first_load_is_rolled_back_and_skipped(tmp_path):
    deliver(tmp_path, 1, ROWS[1])
    load(tmp_path)
    table = HoodieTable.open(str(tmp_path / "t"))
    assert call(table, "rollback", "--instant", table.timeline.commits[-1].time, "--skip-files", "--yes") == 0
    assert load(tmp_path) == 0
    assert ids(table) == []


def test_commits_without_a_feed_and_one_that_cannot_be_read(table, tmp_path):
    state = table.state()
    assert feeds.reloads_of(state, []).files == []
    assert list(feeds.reloads_of(state, []).lines()) == []
    last = state.timeline.commits[-1]
    (tmp_path / "t" / state.layout.path(last)).write_bytes(b"torn")
    reloads = feeds.reloads_of(table.state(), [last.time])
    assert reloads.files == []
    assert "are not known" in next(iter(reloads.lines()))


def test_other_sources_go_back_to_a_position(table):
    kafka = feeds.kafka.KEY
    table.write(table.read().slice(0, 1), "upsert", extra_metadata={kafka: "one"})
    first = table.timeline.commits[-1].time
    table.write(table.read().slice(0, 1), "upsert", extra_metadata={kafka: "two"})
    last = table.timeline.commits[-1].time
    assert feeds.reloads_of(table.state(), [last]).facts()["reads_again"] == [
        f"the next run reads the topic again from the position of commit {first}"
    ]
    assert "from its start" in feeds.reloads_of(table.state(), [first, last]).facts()["reads_again"][0]


def test_the_command_that_takes_the_newest_commit_back_keeps_the_choice(table, capsys):
    last = table.timeline.commits[-1].time
    for flags, kept in (([], ""), (["--skip-files"], " --skip-files")):
        assert call(table, "rollback", *flags, "--yes") == 2
        assert f"run it again with --instant {last}{kept} --yes to take this back" in capsys.readouterr().err
