"""The tolerated share of bad rows, and what becomes of the rows."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError, SourceError
from tests.support.tables import batch

GOOD = "id,part,ts,value\n" + "".join(f"g{n},p,{n},{n}\n" for n in range(8))
TWO_BAD = "id,part,ts,value\n,p,1,1\nb,p,,1\n"  # with GOOD: 2 of 10 rows


@pytest.fixture
def mixed(feed):
    feed.land("good.csv", GOOD)
    feed.land("bad.csv", TWO_BAD)
    return feed


@pytest.mark.parametrize("share", [0.2, 0.21, 1.0])
def test_up_to_the_share_the_good_rows_are_loaded(mixed, share):
    result = mixed.run("csv", max_bad_share=share)
    assert (result.rows_read, result.rows_quarantined, result.rows_inserted) == (10, 2, 8)
    assert set(mixed.content) == {f"g{n}" for n in range(8)}
    table = mixed.open()
    extra = table.state().commit_metadata(table.timeline.last_commit).extra
    assert extra["hudi_services.quarantine"] in result.message
    assert mixed.run("csv", max_bad_share=share).instant is None, "quarantined rows are not tried again"


@pytest.mark.parametrize("share", [0.0, 0.1999])
def test_above_the_share_nothing_is_committed_and_the_rows_are_kept(mixed, share):
    mixed.land("0.parquet", batch([("a", "p", 1, 1)]))
    mixed.run()
    before = [instant.time for instant in mixed.open().timeline.commits]
    with pytest.raises(
        SourceError, match=rf"^2 of 10 rows .* allowed share of {share:.2%}; rows and reasons are in .*"
    ):
        mixed.run("csv", max_bad_share=share)
    assert [instant.time for instant in mixed.open().timeline.commits] == before
    assert set(mixed.content) == {"a"}
    assert mixed.open().timeline.pending == ()
    rows = sorted((path, reason, row["value"]) for path, reason, row in mixed.quarantined)
    assert rows == [
        ("bad.csv", "column id is null or empty", "1"),
        ("bad.csv", "column ts is null or empty", "1"),
    ]


def test_a_repaired_source_is_loaded_whole_after_a_refusal(mixed):
    with pytest.raises(SourceError):
        mixed.run("csv")
    mixed.land("bad.csv", TWO_BAD.replace("\n,p", "\nc,p").replace("b,p,,", "b,p,1,"))
    assert mixed.run("csv").rows_inserted == 10


def test_a_run_of_nothing_but_bad_rows_is_one_commit_without_files(feed):
    feed.land("bad.csv", TWO_BAD)
    assert feed.run("csv", max_bad_share=1.0).rows_written == 0
    assert feed.content == {}
    assert feed.run("csv").instant is None


def test_each_run_has_a_folder_of_its_own_where_it_is_asked_for(mixed, tmp_path):
    elsewhere = tmp_path / "bad" / "rows"
    for _ in range(2):
        with pytest.raises(SourceError):
            mixed.run("csv", quarantine_path=str(elsewhere))
    folders = list(elsewhere.iterdir())
    assert len(folders) == 2
    assert all(file.suffix == ".jsonl" for folder in folders for file in folder.iterdir())
    assert not mixed.quarantine.exists()


def test_a_row_with_two_faults_is_one_bad_row(feed):
    feed.land("bad.csv", "id,part,ts,value\n,p,,1\na,p,1,1\n")
    assert feed.run("csv", max_bad_share=0.5).rows_quarantined == 1


def test_bad_keys_of_a_delete_are_quarantined_and_ordering_values_are_not_asked_for(feed):
    feed.land("good.csv", GOOD)
    feed.run("csv")
    feed.land("gone.csv", "id,part,ts\ng1,p,\n,p,\n")
    result = feed.run("csv", operation="delete", max_bad_share=0.5)
    assert (result.rows_deleted, result.rows_quarantined) == (1, 1)
    assert "g1" not in feed.content


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_share_that_is_none_is_refused(mixed, share):
    with pytest.raises(ConfigError, match="a number from 0 to 1"):
        mixed.run("csv", max_bad_share=share)
    assert not mixed.table.exists()
