"""A paused table: who may not run, who may, and files that say something else."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, TablePausedError
from hoodie.storage import LocalStorage
from hudi_services.cli.program import main
from hudi_services.runtime.pause import FILE, Pause, pause, read_pause, refuse_paused, resume
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

LATER = timedelta(hours=1)


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t", FakeClock())
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


def test_paused_and_resumed(table):
    storage, clock = table.storage, table.clock
    assert read_pause(storage, clock) is None
    refuse_paused(storage, clock, "orders", "clean")
    made = pause(storage, clock, "ann ", " month\n end ")
    assert (made.by, made.reason) == ("ann", "month end")
    assert read_pause(storage, clock) == made
    with pytest.raises(
        TablePausedError, match=r"orders is paused, so clean does not run\. Found: by ann since .* UTC: month end"
    ):
        refuse_paused(storage, clock, "orders", "clean")
    with pytest.raises(TablePausedError, match=r"is paused already.*ann"):
        pause(storage, clock, "bob", "another")
    assert resume(storage) == made
    assert read_pause(storage, clock) is None
    assert resume(storage) is None


def test_one_that_is_over_holds_nothing_and_gives_way(table):
    storage, clock = table.storage, table.clock
    soon = clock.now() + LATER
    made = pause(storage, clock, "ann", "a while", soon)
    assert read_pause(storage, clock) == made
    assert made.holds(soon - timedelta(seconds=1))
    assert not made.holds(soon)
    past = Pause("ann", "long ago", clock.now() - 2 * LATER, clock.now() - LATER)
    storage.delete(FILE)
    storage.create(FILE, json.dumps(past.as_dict()).encode())
    assert read_pause(storage, clock) is None
    assert pause(storage, clock, "bob", "now").by == "bob"


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("between", range(4))
def test_of_two_at_once_one_pauses(table, between, over):
    """The other one comes between any two calls of the first."""
    storage, calls, told = LocalStorage(table.base_path), [], []
    if over:
        past = Pause("ann", "long ago", table.clock.now() - 2 * LATER, table.clock.now() - LATER)
        storage.create(FILE, json.dumps(past.as_dict()).encode())

    def wants(by, at):
        with contextlib.suppress(TablePausedError):
            told.append(pause(at, table.clock, by, "mine"))

    def meanwhile(whole):
        def call(*given):
            calls.append(whole.__name__)
            if len(calls) == between + 1:
                wants("bob", table.storage)
            return whole(*given)

        return call

    for name in ("create", "read", "delete", "replace"):
        setattr(storage, name, meanwhile(getattr(storage, name)))
    wants("ann", storage)
    wants("bob", table.storage)
    assert told == [read_pause(table.storage, table.clock)], calls


@pytest.mark.parametrize("again", [False, True])
def test_a_resume_ends_no_pause_that_came_at_this_moment(table, again):
    """Another user ends the pause between its read and its end, and pauses the table again."""
    storage, clock, later = LocalStorage(table.base_path), table.clock, []
    pause(storage, clock, "ann", "first")

    def meanwhile(end):
        def call(*given):
            resume(table.storage)
            if again:
                later.append(pause(table.storage, clock, "bob", "second"))
            return end(*given)

        return call

    storage.delete, storage.replace = meanwhile(storage.delete), meanwhile(storage.replace)
    if again:
        with pytest.raises(TablePausedError, match="Another pause of table"):
            resume(storage)
        assert [read_pause(table.storage, clock)] == later
    else:
        assert resume(storage) is None
        assert read_pause(table.storage, clock) is None


def test_a_resume_ends_the_pause_that_its_user_has_seen(table):
    storage, clock = table.storage, table.clock
    first = pause(storage, clock, "ann", "first")
    resume(storage)
    second = pause(storage, clock, "bob", "second")
    with pytest.raises(TablePausedError, match=r"Another pause of table .* is there now.*by bob since"):
        resume(storage, str(first))
    assert read_pause(storage, clock) == second
    assert resume(storage, str(second)) == second
    assert resume(storage, str(second)) is None


def test_the_file_of_an_ended_pause_is_over_for_older_releases(table):
    pause(table.storage, table.clock, "ann", "x")
    resume(table.storage)
    body = json.loads(table.storage.read(FILE))
    assert datetime.fromisoformat(body["until"]) < table.clock.now()


@pytest.mark.parametrize("name", [FILE, FILE.rpartition("/")[0]])
def test_a_folder_or_a_file_at_the_wrong_place_holds_the_services_back(table, tmp_path, name, capsys):
    at = ["--target-base-path", str(tmp_path / "t")]
    place = tmp_path / "t" / name
    if name == FILE:
        place.mkdir(parents=True)
    else:
        place.touch()
    held = read_pause(table.storage, table.clock)
    assert held is not None
    assert "cannot be read" in held.reason
    with pytest.raises(TablePausedError, match="is paused already"):
        pause(table.storage, table.clock, "ann", "x")
    for command in (["clean", *at], ["pause", *at, "--reason", "x"], ["resume", *at]):
        assert main(command) == 1
        assert "TablePausedError" in (told := capsys.readouterr().err), told
    assert f"rm -r {place}" in told
    assert main(["show", "table", *at]) == 0


def test_what_terminals_obey_and_files_cannot_hold_is_left_out(table):
    made = pause(table.storage, table.clock, "ann\x1b[2J", "a\x1b[31mred\x00 \ud800\u202eone")
    assert (made.by, made.reason) == ("ann [2J", "a [31mred one")
    assert read_pause(table.storage, table.clock) == made
    with pytest.raises(ConfigError, match="needs a reason"):
        pause(table.storage, table.clock, "ann", "\x00\u202e")


def test_what_is_no_pause_is_refused(table):
    with pytest.raises(ConfigError, match="needs a reason"):
        pause(table.storage, table.clock, "ann", "  ")
    with pytest.raises(ConfigError, match="1,001 characters"):
        pause(table.storage, table.clock, "ann", "x" * 1001)
    with pytest.raises(ConfigError, match="would be over already"):
        pause(table.storage, table.clock, "ann", "x", table.clock.now() - LATER)
    far = datetime(9999, 12, 31, 23, tzinfo=timezone(-LATER))
    for until in (far, datetime(1, 1, 1, tzinfo=timezone(LATER))):
        with pytest.raises(ConfigError, match="A pause cannot end at this time"):
            pause(table.storage, table.clock, "ann", "x", until)
    assert read_pause(table.storage, table.clock) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"by": 1, "reason": "x", "since": "2026-01-01T00:00:00+00:00"}',
        b'{"by": "a", "reason": "x", "since": "2026-01-01T00:00:00"}',
        b'{"by": "a", "reason": "x", "since": "2026-01-01T00:00:00+00:00", "until": "soon"}',
        b'{"by": "a", "reason": "x", "since": "2026-01-01T00:00:00+00:00", "until": "9999-12-31T23:59:59-01:00"}',
    ],
)
def test_a_file_that_cannot_be_read_holds_the_services_back(table, body):
    table.storage.create(FILE, body)
    held = read_pause(table.storage, table.clock)
    assert held is not None
    assert "cannot be read" in held.reason
    assert held.until is None
    assert resume(table.storage) == held
    assert read_pause(table.storage, table.clock) is None


def test_on_the_command_line(table, tmp_path, capsys):
    at = ["--target-base-path", str(tmp_path / "t")]
    clean = ["clean", *at, "--hoodie-conf", "hoodie.clean.commits.retained=1"]
    assert main(["pause", *at, "--reason", "the <b>source</b> moves", "--user", "ann", "--until", "2999-01-01"]) == 0
    assert capsys.readouterr().out.startswith("paused by ann since ")
    assert main(clean) == 1
    assert "TablePausedError" in (told := capsys.readouterr().err)
    assert "the <b>source</b> moves" in told
    assert main([*clean, "--explain"]) == 0
    assert main(["show", "table", *at]) == 0
    assert "by ann since" in capsys.readouterr().out
    assert main(["show", "table", *at, "--json"]) == 0
    until = json.loads(capsys.readouterr().out)["paused"]["until"]
    assert datetime.fromisoformat(until) == datetime(2999, 1, 1, tzinfo=UTC)
    HoodieTable.open(table.base_path).write(batch([("b", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert set(content(table)) == {"a", "b"}, "writers are not services"
    assert main(["resume", *at]) == 0
    assert "it was paused by ann" in capsys.readouterr().out
    assert main(clean) == 0


def test_only_a_table_is_paused(tmp_path, capsys):
    assert main(["pause", "--target-base-path", str(tmp_path), "--reason", "x"]) == 1
    assert "TableNotFoundError" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
