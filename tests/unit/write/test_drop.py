"""Partitions dropped by their names, by the rows of a write, and a table emptied."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, TTL
from hoodie.errors import (
    ArgumentError,
    ConfigError,
    PendingInstantError,
    SchemaConflictError,
    WriteConflictError,
)
from hoodie.formats import avro_file
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

ROWS = [("a", "p1", 1, 1), ("b", "p2", 1, 1), ("c", "q", 1, 1), ("d", "*", 1, 1), ("e", "a b", 1, 1)]
PARTITIONS = [f"part={part}" for _, part, *_ in ROWS]
TO_DELETE = "hoodie.datasource.write.partitions.to.delete"


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path, version):
    made = create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": request.param}
    )
    made.write(batch(ROWS), "insert", SMALL_BLOOM)
    return made


def left(table):
    return "".join(sorted(content(table)))


@pytest.mark.parametrize(
    ("names", "rest"),
    [
        (["part=p1"], "bcde"),
        (["part=p1", "part=q"], "bde"),
        (["part=p*"], "cde"),
        (["*1", "part=a b"], "bcd"),
        (["part=*a"], "abcde"),  # "a b" goes on behind the "a"
        (["*"], ""),
        (["part=p"], "abcde"),
        (["part=.*"], "abcde"),
    ],
)
def test_partitions_go_by_name_and_pattern(table, names, rest, caplog):
    before, since = content(table), table.timeline.commits[-1].time
    done = table.delete_partitions(names)
    assert left(table) == rest
    assert done.metadata.operation == "DELETE_PARTITION"
    assert done.groups_replaced == 5 - len(rest)
    assert content(table, as_of=since) == before
    assert ("nothing to drop there" in caplog.text) == (len(rest) == 5)


def test_again_after_a_lost_answer_nothing_else_goes(table):
    table.delete_partitions(["part=p*"])
    assert table.delete_partitions(["part=p*"]).metadata.replaced == {"part=p1": (), "part=p2": ()}
    table.write(batch([("n", "p1", 1, 1)]), "insert", SMALL_BLOOM)
    assert left(table) == "cden"


def test_it_is_written_as_hudi_does(table):
    time = table.delete_partitions(["part=q"]).instant.time
    path = table.state().layout.requested_path(time, Action.REPLACE_COMMIT)
    request = avro_file.decode(table.storage.read(path), path)
    wanted = {"operationType": "DELETE_PARTITION", "clusteringPlan": None, "extraMetadata": {}, "version": 1}
    assert request == wanted


def test_the_options_of_a_write_name_them_as_in_hudi(table):
    table.write(None, None, {"hoodie.datasource.write.operation": "delete_partition", TO_DELETE: "part=p1,part=a b"})
    assert left(table) == "bcd"
    with pytest.raises(ConfigError, match="no meaning for the operation upsert"):
        table.write(batch(ROWS), "upsert", {TO_DELETE: "part=q"})
    for wrong in ("", "part=q,,part=p2", ","):
        with pytest.raises(ConfigError, match="none of them empty"):
            table.write(None, "delete_partition", {TO_DELETE: wrong})
    table.write(None, "delete_partition", {TO_DELETE: " part=q"})
    assert left(table) == "bcd", "a space belongs to the name"


def test_a_comma_in_a_name_cuts_it_into_no_other_partition(tmp_path):
    """`part=Berlin, Germany` between commas named part=Berlin, whose rows went."""
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("a", "Berlin", 1, 1), ("b", "Berlin, Germany", 1, 1), ("c", "q", 1, 1)]), "insert", SMALL_BLOOM)
    for named in ("part=Berlin, Germany", "part=q,part=Berlin, Germany"):
        with pytest.raises(ConfigError, match="one whose name has a comma"):
            table.write(None, "delete_partition", {TO_DELETE: named})
    with pytest.raises(ConfigError, match="one whose name has a comma"):
        table.explain(
            TTL,
            {
                "hoodie.partition.ttl.strategy.days.retain": 1,
                "hoodie.partition.ttl.strategy.partition.selected": "part=Berlin, Germany",
            },
        )
    assert left(table) == "abc"
    table.delete_partitions(["part=Berlin, Germany"])
    table.write(None, "delete_partition", {TO_DELETE: "part=Berlin"})
    assert left(table) == "c"


def test_the_rows_of_a_write_name_them_by_their_columns(table):
    rows = batch([("anything", "q", 0, 0), ("b", "p2", 0, 0), ("f", "nowhere", 0, 0)])
    done = table.write(rows.select(["id", "part"]), "delete_partition")
    assert left(table) == "ade"
    assert (done.rows_inserted, done.files_written, done.groups_replaced) == (0, 0, 2)
    table.write(batch([]), "delete_partition")
    assert left(table) == "ade"


def test_what_is_no_list_of_names_is_refused(table):
    for names in ("part=q", [], [""], ["/"], ["part=q", None], [None], 3):
        with pytest.raises(ArgumentError, match="not a list of their paths"):
            table.delete_partitions(names)
        assert left(table) == "abcde", names


def test_a_name_leads_nowhere_else(table):
    for name in ("../t2", "part=q/../..", ".hoodie", "./.hoodie/timeline", "//etc", ".", "a\0b"):
        with pytest.raises(ArgumentError, match="is not a partition"):
            table.delete_partitions([name])
        with pytest.raises(ConfigError, match=r"is not a partition|a value it cannot have"):
            table.write(None, "delete_partition", {TO_DELETE: name})


def test_other_spellings_of_a_folder_drop_it(table):
    names = ["part=p1/", "./part=p2", "part=q//.", "/part=a b", "part=*/"]
    for name, rest in zip(names[:4], ["bcde", "cde", "de", "d"], strict=True):
        table.write(None, "delete_partition", {TO_DELETE: name})
        assert left(table) == rest
    with pytest.raises(ConfigError, match="a pattern that may match others"):
        table.delete_partitions([names[4]])
    assert all(set(table.state().commit_metadata(done).replaced) <= set(PARTITIONS) for done in table.timeline.commits)


def test_another_spelling_stops_before_a_waiting_compaction_too(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p1", 2, 2)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
    with pytest.raises(PendingInstantError, match="compaction of partition"):
        table.delete_partitions(["part=p1/"])


def test_a_partition_whose_name_is_a_pattern_is_told_from_none(table):
    with pytest.raises(ConfigError, match="a pattern that may match others"):
        table.delete_partitions(["part=*"])
    assert left(table) == "abcde"


def test_a_table_without_partitions_is_emptied_otherwise(tmp_path, version):
    options = {"hoodie.table.partition.fields": "", "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    with pytest.raises(SchemaConflictError, match="never written"):
        table.truncate()
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    with pytest.raises(ConfigError, match="truncate"):
        table.delete_partitions(["*"])
    with pytest.raises(ConfigError, match="truncate"):
        table.write(batch(ROWS), "delete_partition")
    table.truncate()
    assert left(table) == ""
    table.write(batch(ROWS[:1]), "insert", SMALL_BLOOM)
    assert left(table) == "a"


def test_all_rows_go_and_the_columns_stay(table):
    before, since = content(table), table.timeline.commits[-1].time
    done = table.truncate(extra_metadata={"why": "a test"})
    assert content(table) == {}
    assert table.schema.names == ["id", "part", "ts", "value"]
    assert done.metadata.extra["why"] == "a test"
    assert len(done.metadata.replaced) == 5
    assert content(table, as_of=since) == before
    table.truncate()
    table.write(batch(ROWS), "upsert", SMALL_BLOOM)
    assert content(table) == before


def test_a_compaction_that_waits_stops_it(tmp_path, version):
    """As in Hudi, whose cleaner would delete what the plan names."""
    table = create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    )
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    table.write(batch([("c", "q", 2, 2)]), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    time = table.schedule(COMPACTION, force=True)
    for drop in (
        lambda: table.delete_partitions(["part=q"]),
        lambda: table.write(batch([("c", "q", 0, 0)]), "delete_partition"),
    ):
        with pytest.raises(PendingInstantError, match=time):
            drop()
    table.delete_partitions(["part=p1"])
    table.run(COMPACTION)
    table.delete_partitions(["part=q"])
    assert left(table) == "bde"


@pytest.mark.parametrize("partition", ["q", "new"])
def test_what_others_write_there_meanwhile_is_a_conflict(tmp_path, partition):
    create(tmp_path / "t", QuickClock()).write(batch(ROWS), "insert", SMALL_BLOOM)
    table = shared(tmp_path / "t")
    begun = Rival(tmp_path / "t", lambda rival: rival.delete_partitions(["part=q"], OCC), written=True).begin()
    table.write(batch([("n", partition, 1, 1)]), "insert", {**OCC, "hoodie.parquet.small.file.limit": 0})
    error = begun.finish()
    if partition == "q":
        assert isinstance(error, WriteConflictError), error
    else:
        assert error is None
    assert ("c" in content(table)) == (partition == "q")
    assert "n" in content(table)


def test_an_emptied_table_loses_no_row_of_others(tmp_path):
    create(tmp_path / "t", QuickClock()).write(batch(ROWS), "insert", SMALL_BLOOM)
    table = shared(tmp_path / "t")
    begun = Rival(tmp_path / "t", lambda rival: rival.truncate(OCC), written=True).begin()
    table.write(batch([("n", "new", 1, 1)]), "insert", OCC)
    assert isinstance(begun.finish(), WriteConflictError)
    assert left(table) == "abcden"
