"""Logs of changes beside rewritten base files."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION
from hoodie.engine import LocalEngine
from hoodie.formats.log import scan_blocks
from hoodie.formats.log.rows import read_rows
from hoodie.table import HoodieTable, WriteHooks
from tests.support.changes import operations, write
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, create

CDC = {"hoodie.table.cdc.enabled": "true"}


def logs(table):
    """Paths of the logs of changes that are there."""
    return sorted(file.path for each in table.state().files.all() for file in each.log_files if file.is_cdc)


def logged(table):
    """(op, key, value before, value after) of the changes that stats of commits name, in mode DATA_BEFORE_AFTER."""
    state, found = table.state(), []
    for instant in state.timeline.commits:
        for stat in state.commit_metadata(instant).stats:
            for path in stat.cdc_stats or ():
                for block in scan_blocks(table.storage, path):
                    for row in (row for rows in read_rows(table.storage, block) for row in rows.to_pylist()):
                        images = [row["before"], row["after"]]
                        found.append((row["op"], (images[0] or images[1])["id"], *(i and i["value"] for i in images)))
    return found


def test_each_change_of_a_rewritten_file_is_logged(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **CDC)
    start = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    assert logs(table) == [], "readers take the rows of a new file group from its base file"
    write(table, [("a", "p", 2, 2), ("d", "p", 1, 1)])
    write(table, [("b", "p", 1, 1)], "delete")
    write(table, [("e", "p", 1, 1)], "insert")
    write(table, [("c", "q", 1, 1)], "delete")
    assert logged(table) == operations(table.read_changes(start))
    assert logged(table) == [
        ("u", "a", 1, 2),
        ("i", "d", None, 1),
        ("d", "b", 1, None),
        ("i", "e", None, 1),
        ("d", "c", 1, None),
    ]


def test_a_rewritten_file_has_a_log_even_without_changes(tmp_path):
    """Hudi's reader says that there should be one."""
    table = create(tmp_path / "t", FakeClock(), **CDC)
    write(table, [("a", "p", 5, 1)], "insert")
    write(table, [("a", "p", 1, 2)])
    write(table, [("a", "p", 5, 1)])
    assert len(logs(table)) == 2
    assert logged(table) == []


def test_rows_beside_rows_of_their_key_are_inserts(tmp_path):
    """Hudi leaves the log out here, and then its reader fails."""
    table = create(tmp_path / "t", FakeClock(), **CDC)
    write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)], "insert")
    assert logged(table) == [("i", "a", None, 2)]


def test_the_stat_of_a_log_names_the_files_of_its_slice(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **CDC, **{"hoodie.table.type": "MERGE_ON_READ"})
    write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    write(table, [("a", "p", 3, 3)])
    state = table.state()
    first, second, third = (state.commit_metadata(instant).stats[0] for instant in state.timeline.commits)
    name = first.path.rpartition("/")[2]
    assert [stat.log.base_file for stat in (second, third)] == [name, name]
    assert [len(stat.log.log_files) for stat in (second, third)] == [1, 2]
    assert {stat.prev_commit for stat in (second, third)} == {state.timeline.commits[0].time}
    table.schedule(COMPACTION, force=True)
    assert table.run(COMPACTION, SMALL_BLOOM)
    assert operations(table.read_changes())[-1] == ("u", "a", 2, 3)


def test_logs_go_with_their_slices_and_the_doctor_knows_them(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **CDC)
    for number in range(5):
        write(table, [("a", "p", number, number)])
    assert not table.diagnose(deep=True).findings
    before = logs(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert set(logs(table)) < set(before)
    assert not table.diagnose(deep=True).findings


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_killed_write_leaves_no_log(tmp_path, kind):
    table = create(tmp_path / "t", FakeClock(), **CDC, **{"hoodie.table.type": kind})
    write(table, [("a", "p", 1, 1)], "insert")

    def die():
        raise Killed("before the commit")

    with pytest.raises(Killed):
        table.write(batch([("b", "p", 1, 1)]), "insert", SMALL_BLOOM, hooks=WriteHooks(before_commit=die))
    assert len(logs(table)) == 1
    write(table, [("c", "q", 1, 1)])
    assert logs(table) == []
    assert [row[1] for row in operations(table.read_changes())] == ["a", "c"]


def test_a_kill_at_any_call_leaves_a_table_whose_logs_its_commits_name(tmp_path):
    done, number = False, 3
    while not done:
        table = create(tmp_path / str(number), FakeClock(), **CDC)
        write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
        dying = HoodieTable(FaultyStorage(table.base_path, number), LocalEngine(1), table.clock)
        try:
            dying.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
            done = True
        except Killed:
            number += 3
        write(table, [("b", "p", 3, 3)])
        state = table.state()
        named = {
            p for i in state.timeline.commits for stat in state.commit_metadata(i).stats for p in stat.cdc_stats or ()
        }
        assert named == set(logs(table))
        assert operations(table.read_changes())[2:] == logged(table)
    assert number > 12
