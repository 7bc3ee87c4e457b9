"""Files that are loaded again: chosen by path, by date, or since an instant; the checkpoint stays that of all that was loaded."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie.errors import ConfigError
from hudi_services.sources.ingest.files.checkpoint import Checkpoint
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.positions import Position, Since
from tests.support.cli import main
from tests.support.examples import examples
from tests.support.tables import batch

NAMES = ("a", "b", "c", "d", "e")


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=5),
    st.data(),
)
def test_since_an_instant_all_that_was_loaded_after_it_is_loaded_again_in_that_order(loads, data) -> None:
    """Each load is of new files and of such as have changed and are loaded again."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "land"
        folder.mkdir()
        places = Places(f"{place}/table", f"{place}/quarantine")
        source = FilesSource(str(folder), "csv")
        known = Checkpoint()
        positions: list[Position] = []
        loaded: dict[str, int] = {}  # name -> the number of the load that took it last
        for number, names in enumerate(loads):
            for name in names:
                path = folder / f"{name}.csv"
                path.write_text(f"{number}")
                os.utime(path, (number + 1, number + 1))
                loaded[name] = number
            batch_ = FilesSource(str(folder), "csv", reload=True, only=tuple(f"{name}.csv" for name in names)).discover(
                positions[-1] if positions else None, places, start_fresh=False
            )
            assert {item.path for item in batch_.items} == {f"{name}.csv" for name in names}
            positions.append(Position(batch_.position, f"2026010100000000{number}", "commit"))
            known = Checkpoint.decode(positions[-1])
        assert set(known.loaded(str(folder))) == {f"{name}.csv" for name in loaded}, "a partial load forgets nothing"
        new = data.draw(st.sets(st.sampled_from(("x", "y"))))
        for name in new:
            (folder / f"{name}.csv").write_text("new")
        since = data.draw(st.integers(-1, len(loads) - 1))
        named = data.draw(st.sampled_from([(), ("a.csv", "x.csv")]))
        asked = tuple(name for name in named if (folder / name).exists())
        before = positions[since] if since >= 0 else None
        chosen = FilesSource(str(folder), "csv", only=asked).discover(
            positions[-1], places, start_fresh=False, since=Since("", before, tuple(positions[since + 1 :]))
        )
        wanted = sorted((number, f"{name}.csv") for name, number in loaded.items() if number > since)
        expected = [*(path for _, path in wanted), *sorted(f"{name}.csv" for name in new)]
        assert [item.path for item in chosen.items] == [path for path in expected if not asked or path in asked]
        assert chosen.again == sum(not asked or path in asked for _, path in wanted)
        after = Position(chosen.position, "20260102", "commit")
        rest = source.discover(after, places, start_fresh=False)
        assert {item.path for item in rest.items} == {
            path for path in expected if path[0] in "xy" and asked and path not in asked
        }
        assert not rest.plan.changed, "what was loaded is known as it was"


ROWS = {"p=1/1.parquet": ("a", "p", 1, 1), "p=1/2.parquet": ("b", "p", 2, 2), "p=2/3.parquet": ("c", "q", 3, 3)}


@pytest.fixture
def loaded(feed):
    """Three files of two folders, each by a commit of its own; the instants of these."""
    instants = []
    for name, row in ROWS.items():
        feed.land(name, batch([row]))
        instants.append(str(feed.run().instant))
    return feed, instants


def ingest(feed, *flags):
    named = ["--target-base-path", str(feed.table), "--source-path", str(feed.source)]
    return main(["ingest", *named, *flags])


def explained(feed, capsys, *flags):
    assert ingest(feed, "--explain", "--json", *flags) == 0
    return json.loads(capsys.readouterr().out)


def test_files_of_a_folder_are_loaded_again(loaded, capsys) -> None:
    feed, _ = loaded
    plan = explained(feed, capsys, "--reload", "--files", "p=1/")
    assert [(each["path"], each["reason"]) for each in plan["files"]] == [
        ("p=1/1.parquet", "again: loaded"),
        ("p=1/2.parquet", "again: loaded"),
    ]
    assert "2 files to load, 2 of them again; 1 not asked for" in plan["reason"]
    content = feed.content
    assert ingest(feed, "--reload", "--files", "p=1/") == 0
    assert feed.content == content
    assert ingest(feed) == 0
    assert not feed.prepare().batch.items, "what was not asked for is known still"


def test_only_new_files_of_a_pattern_are_loaded_and_the_others_stay_new(feed) -> None:
    for name, row in ROWS.items():
        feed.land(name, batch([row]))
    assert (
        ingest(
            feed, "--files", "3.*", *(f"--hoodie-conf={key}={value}" for key, value in feed.request().options.items())
        )
        == 0
    )
    assert sorted(feed.content) == ["c"]
    assert [item.path for item in feed.prepare().batch.items] == ["p=1/1.parquet", "p=1/2.parquet"]


def test_what_commits_since_an_instant_loaded_is_loaded_again(loaded, capsys) -> None:
    feed, (first, second, third) = loaded
    plan = explained(feed, capsys, "--reload-since", first)
    assert [(each["path"], each["reason"]) for each in plan["files"]] == [
        ("p=1/2.parquet", f"again: loaded by {second}"),
        ("p=2/3.parquet", f"again: loaded by {third}"),
    ]
    content = feed.content
    for _ in range(2):
        assert ingest(feed, "--reload-since", first) == 0
        assert feed.content == content
        assert not feed.prepare().batch.items


def test_rows_that_were_lost_come_back(loaded) -> None:
    feed, (first, *_) = loaded
    content = feed.content
    feed.open().write(batch([ROWS["p=2/3.parquet"]]), "delete")
    assert sorted(feed.content) == ["a", "b"]
    assert ingest(feed, "--reload-since", first) == 0
    assert feed.content == content


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (("--reload-since", "yesterday"), "'yesterday' cannot be loaded from.*has 14 or 17 digits"),
        (("--reload-since", "20200101000000000"), "has no such instant"),
        (("--reload-since", "20200101000000000", "--reload"), "contradicts --reload"),
        (("--reload-since", "20200101000000000", "--start-fresh"), "contradicts --start-fresh"),
        (("--reload", "--operation", "insert"), "insert would add rows that are loaded again a second time"),
        (("--reload-since", "20200101000000000", "--operation", "bulk_insert"), "bulk_insert would add rows"),
        (("--files", "/land/p=1"), "--files takes no '/land/p=1'"),
        (("--files", "../x"), "--files takes no '../x'"),
        (("--files", " "), "--files takes no ' '"),
        (("--files", "p=1"), "--files 'p=1' names no file of the source.*folder with a slash at its end"),
        (("--files", "p=1/", "--files", "p=9/"), r"--files 'p=9/\*\*' names no file"),
    ],
)
def test_nonsense_is_refused_by_name(loaded, capsys, flags, error) -> None:
    feed, _ = loaded
    assert ingest(feed, *flags) == 2
    assert re.search(error, capsys.readouterr().err.replace("\n", " "))


def test_rows_may_be_added_again_where_that_is_said(loaded) -> None:
    feed, _ = loaded
    before = len(feed.open().read())
    plain = "--hoodie-conf=hoodie.datasource.insert.dup.policy=NONE"
    assert ingest(feed, "--reload", "--files", "1.parquet", "--operation", "insert", plain) == 0
    assert len(feed.open().read()) == before + 1


def test_an_instant_that_is_pending_or_archived_is_refused(loaded) -> None:
    feed, (first, second, _) = loaded
    timeline = feed.table / ".hoodie" / "timeline"
    (done,) = timeline.glob(f"{second}_*.commit")
    done.rename(feed.table.parent / "aside")
    with pytest.raises(ConfigError, match="not complete"):
        feed.prepare(reload_since=second)
    (feed.table.parent / "aside").rename(done)
    for name in ("4", "5", "6", "7"):
        feed.land(f"{name}.parquet", batch([(name, "p", 1, 1)]))
        feed.run()
    few = ("--hoodie-conf=hoodie.keep.min.commits=2", "--hoodie-conf=hoodie.keep.max.commits=3")
    kept = "--hoodie-conf=hoodie.clean.commits.retained=1"
    assert main(["clean", "--target-base-path", str(feed.table), kept]) == 0
    assert main(["archive", "--target-base-path", str(feed.table), kept, *few]) == 0
    with pytest.raises(ConfigError, match="it is archived"):
        feed.prepare(reload_since=first)


def test_a_table_that_is_not_there_has_no_instant(feed) -> None:
    feed.land("1.parquet", batch([("a", "p", 1, 1)]))
    with pytest.raises(ConfigError, match="names no instant"):
        feed.prepare(reload_since="20260101000000000")


def test_a_table_without_ordering_columns_warns(feed, capsys) -> None:
    feed.land("1.parquet", batch([("a", "p", 1, 1)]))
    unordered = {"hoodie.table.ordering.fields": "", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
    feed.run(options=unordered)
    assert ingest(feed, "--reload", "--explain") == 0
    assert "take the place of newer ones" in capsys.readouterr().out
    assert ingest(feed, "--explain") == 0
    assert "take the place of newer ones" not in capsys.readouterr().out
