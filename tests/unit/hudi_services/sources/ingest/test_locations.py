"""One folder in many spellings, and folders inside each other."""

from __future__ import annotations

import os

import pytest

from hoodie.errors import ConfigError, HoodieError
from hudi_services.sources.ingest.files.checkpoint import Checkpoint, LoadedFile
from hudi_services.sources.ingest.files.listing import SourceFile
from tests.support.tables import batch

ROWS = batch([("a", "p", 1, 1), ("b", "q", 1, 1)])
MORE = batch([("c", "p", 1, 1)])


def spellings(feed):
    link = feed.source.with_name("link")
    link.symlink_to(feed.source)
    plain = str(feed.source)
    relative = os.path.relpath(plain)
    return [f"{plain}/", f"{plain}/../land", f"/{plain}", f"file://{plain}", f"file:{plain}", relative, str(link)]


def test_a_file_is_loaded_once_however_its_folder_is_spelled(feed):
    feed.land("1.parquet", ROWS)
    feed.run(operation="bulk_insert")
    for spelling in spellings(feed):
        assert feed.run(operation="bulk_insert", source=spelling).instant is None, spelling
    feed.land("2.parquet", MORE)
    assert feed.run(operation="bulk_insert", source=feed.source.with_name("link")).files_read == 1
    assert feed.run(operation="bulk_insert").instant is None


def test_checkpoints_with_spellings_of_before_are_understood(tmp_path):
    """As they were written when each spelling was a source of its own."""
    land = tmp_path / "land"
    land.mkdir()
    (tmp_path / "link").symlink_to(land)
    files = {
        name: {f"{number}.csv": LoadedFile(number)}
        for number, name in enumerate([f"{land}/../land", f"{tmp_path}/link"])
    }
    old = Checkpoint({**files, "/other": {"x.csv": LoadedFile(1)}})
    assert old.loaded(str(land)) == {"0.csv": LoadedFile(0), "1.csv": LoadedFile(1)}
    assert old.with_files(str(land), [SourceFile("2.csv", 2, 0, None)]) == Checkpoint(
        {
            str(land): {"0.csv": LoadedFile(0), "1.csv": LoadedFile(1), "2.csv": LoadedFile(2, 0)},
            "/other": {"x.csv": LoadedFile(1)},
        }
    )
    assert old.without(str(land)) == Checkpoint({"/other": {"x.csv": LoadedFile(1)}})


def test_a_relative_source_without_files_yet_is_not_missing(feed, monkeypatch):
    monkeypatch.chdir(feed.source.parent)
    assert feed.run(source="land").instant is None


@pytest.mark.parametrize("inside", ["", "/deliveries", "/../trips/p"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_source_in_the_table_is_refused_before_anything_is_created(feed, inside, linked):
    source = f"{feed.table}{inside}"
    os.makedirs(source)
    (feed.table / "x.parquet").write_bytes(b"")
    if linked:
        os.symlink(source, feed.source / "link")
        source = f"{feed.source}/link"
    with pytest.raises(ConfigError, match="lies in the table"):
        feed.run(source=source)
    assert not (feed.table / ".hoodie").exists()


def test_a_quarantine_is_no_source_and_not_in_the_table(feed):
    feed.quarantine.mkdir()
    with pytest.raises(ConfigError, match="lies in the quarantine"):
        feed.run("json", source=f"{feed.quarantine}/run-1")
    with pytest.raises(ConfigError, match="lie in one another"):
        feed.run("json", quarantine_path=f"{feed.table}/bad")
    with pytest.raises(ConfigError, match="lies in the quarantine"):
        feed.run("json", quarantine_path=str(feed.source))


@pytest.mark.parametrize("linked", [False, True])
def test_a_table_and_its_quarantine_in_the_source_are_not_loaded(feed, linked):
    """The folder of all deliveries of a small lake, with the table in it."""
    lake = feed.source.parent
    source = lake
    if linked:
        source = lake / "all"
        source.mkdir()
        for folder in ("land", "trips", "trips.quarantine"):
            (source / folder).symlink_to(lake / folder)
    feed.land("1.json", [{"id": "a", "part": "p", "ts": 1, "value": 1}, {"id": "", "part": "p", "ts": 1, "value": 1}])
    feed.land("1.parquet", ROWS)
    for _ in range(2):
        feed.run("json", source=source, max_bad_share=0.5)
        feed.run(source=source)
    assert len(feed.quarantined) == 1
    assert len(feed.open().timeline) == 2
    assert set(feed.content) == {"a", "b"}


def test_links_in_a_circle_are_named(feed):
    feed.land("sub/1.parquet", ROWS)
    (feed.source / "sub" / "again").symlink_to(feed.source)
    with pytest.raises(HoodieError, match=r"link .*sub/again .* leads into itself"):
        feed.run()


def test_a_folder_named_like_a_file_holds_files(feed):
    feed.land("1.parquet/part-0.parquet", ROWS)
    assert feed.run().rows_inserted == 2
