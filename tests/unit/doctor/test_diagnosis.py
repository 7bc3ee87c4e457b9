"""Findings of a doctor on tables that were damaged in one way each. It finds nothing more."""

from __future__ import annotations

import json
import os
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from hoodie import COMPACTION
from hoodie.clock import SystemClock
from hoodie.doctor.catalogue import CHECKS
from hoodie.doctor.finding import Severity
from hoodie.errors import CorruptTableError, TableNotFoundError
from hoodie.storage import LocalStorage, walk_files
from hoodie.table import HoodieTable
from hoodie.timeline import Action, State, parse_time
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create

LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
VERSIONS = ("6", "9")
KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")


def filled(path, version="9", kind="COPY_ON_WRITE", commits=3):
    table = create(path, **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    for step in range(commits):
        table.write(batch([("a", "p", step, step), (f"b{step}", "q", step, step)]), "upsert", SMALL_BLOOM)
    return table


def found(table, **more):
    """check -> paths; of warnings and damage."""
    result = {}
    for each in table.diagnose(**more).findings:
        assert each.severity is CHECKS[each.check].severity
        assert each.remedy
        if each.severity is not Severity.NOTE:
            result.setdefault(each.check, set()).add(each.path)
    return result


def newest(table, partition="p"):
    """The base file of a current slice."""
    return next(s.base_file for s in table.file_slices() if s.partition.endswith(partition) and s.base_file)


def body(table, instant):
    return Path(table.base_path, table.state().layout.path(instant))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_healthy_table_is_healthy(tmp_path, version, kind):
    table = filled(tmp_path, version, kind, commits=6)
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        assert table.diagnose().severity is None
        table.run(COMPACTION)
        table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    table.savepoint()
    archive_before(table, table.timeline.commits[3].time)
    diagnosis = table.diagnose()
    assert diagnosis.findings == ()
    assert "healthy" in repr(diagnosis)
    assert diagnosis.facts["partitions"] == 2


def test_what_is_no_table_at_all_is_an_error(tmp_path):
    with pytest.raises(TableNotFoundError):
        HoodieTable(LocalStorage(str(tmp_path))).diagnose()
    filled(tmp_path / "t")
    (tmp_path / "t/.hoodie/hoodie.properties").write_bytes(b"")
    with pytest.raises(CorruptTableError):
        HoodieTable(LocalStorage(str(tmp_path / "t"))).diagnose()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_base_file_that_is_gone(tmp_path, version, kind):
    table = filled(tmp_path, version, kind)
    lost = newest(table).path
    (tmp_path / lost).unlink()
    assert found(table) == {"missing-file": {lost}}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_that_is_gone_of_a_slice_and_of_a_plan(tmp_path, version):
    table = filled(tmp_path, version, "MERGE_ON_READ")
    table.schedule(COMPACTION, force=True)
    lost = next(s for s in table.file_slices() if s.partition == "part=p").log_files[-1].path
    (tmp_path / lost).unlink()
    assert found(table) == {"missing-file": {lost}}


def test_a_whole_partition_that_is_gone_and_a_file_that_only_a_savepoint_keeps(tmp_path):
    table = filled(tmp_path)
    table.savepoint(table.timeline.commits[0].time)
    first = next(iter(table.savepoints())).paths
    current = newest(table).path
    lost = {path for path in first if path.startswith("part=p")} | {current}
    for path in walk_files(table.storage, "part=p"):
        table.storage.delete(path.path)
    assert found(table) == {"missing-file": lost}
    told = {each.path: each.remedy for each in table.diagnose().findings if each.check == "missing-file"}
    saved = {path for path, remedy in told.items() if "savepoint delete --instant" in remedy}
    assert saved == lost - {current}, "where a savepoint is damaged itself, restoring to it is no advice"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_partition_without_its_mark(tmp_path, version):
    table = filled(tmp_path, version)
    (tmp_path / "part=p/.hoodie_partition_metadata").unlink()
    assert found(table) == {"partition-metafile": {"part=p/.hoodie_partition_metadata"}}


def test_a_copy_of_a_partition_in_the_table_is_told_and_is_no_partition(tmp_path):
    table = filled(tmp_path)
    (tmp_path / "old").mkdir()
    file = newest(table)
    (tmp_path / "old" / file.name).write_bytes((tmp_path / file.path).read_bytes())
    assert found(table) == {"unmarked-folder": {"old/.hoodie_partition_metadata"}}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_files_of_no_instant_are_orphans_and_those_of_archived_ones_are_not(tmp_path, version, kind):
    table = filled(tmp_path, version, kind, commits=5)
    first, last = table.timeline.commits[0].time, table.timeline.commits[-1].time
    archive_before(table, table.timeline.commits[2].time)
    name = "part=p/11111111-2222-3333-4444-555555555555-0_0-1-2_{}.parquet"
    (tmp_path / name.format(first)).write_bytes(b"archived")
    later = str(int(last) + 1)
    wanted = {name.format(later), f"part=p/.aaaa-0_{later}.log.1_0-1-2"}
    for path in wanted:
        (tmp_path / path).write_bytes(b"x" * 10)
    diagnosis = table.diagnose()
    assert {(each.check, each.path, each.bytes) for each in diagnosis.findings} == {
        ("orphan-file", path, 10) for path in wanted
    }
    assert diagnosis.severity is Severity.WARNING


@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_a_table_that_lost_its_timeline_are_no_orphans(tmp_path, version):
    table = filled(tmp_path, version)
    data = {path: path.read_bytes() for path in tmp_path.rglob("part=*/*") if path.is_file()}
    folder = table.state().layout.folder
    for instant in table.timeline:
        for path in tmp_path.glob(f".hoodie/**/{instant.time}*"):
            path.unlink(missing_ok=True)
    (finding,) = [each for each in table.diagnose().findings if not each.check.startswith("metadata")]
    assert (finding.check, finding.severity, finding.path) == (
        "lost-timeline",
        Severity.DAMAGE,
        folder,
    )
    table.mend(table.diagnose())
    assert {path: path.read_bytes() for path in tmp_path.rglob("part=*/*") if path.is_file()} == data


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_that_its_commit_does_not_name(tmp_path, version):
    table = filled(tmp_path, version)
    extra = f"part=p/aaaa-0_0-1-2_{table.timeline.commits[-1].time}.parquet"
    (tmp_path / extra).write_bytes((tmp_path / newest(table).path).read_bytes())
    assert found(table) == {"uncommitted-file": {extra}}


def test_logs_named_as_in_version_6_go_by_their_blocks(tmp_path):
    """An upgraded table may have such logs of any writer: they bear the instant of their slice."""
    table = filled(tmp_path, "9", "MERGE_ON_READ", commits=1)
    table.write(batch([("a", "p", 7, 7)]), "upsert", LOGS)
    [log] = [file for each in table.file_slices() for file in each.log_files]
    names = [
        log.path.replace(log.time, table.timeline.commits[0].time).replace(".log.1_", f".log.{n}_") for n in (2, 3)
    ]
    rows = (tmp_path / log.path).read_bytes()
    (tmp_path / names[0]).write_bytes(rows)
    (tmp_path / names[1]).write_bytes(rows.replace(log.time.encode(), str(int(log.time) + 1).encode()))
    assert found(table) == {"uncommitted-file": {names[1]}}
    archive_before(table, table.timeline.commits[-1].time)
    assert not {names[0]} & found(table).get("uncommitted-file", set())


def test_files_of_writes_at_work_are_nobodys_orphans(tmp_path):
    table = filled(tmp_path)
    state = table.state()
    began = instants.start(state, instants.request(state, time := new_time(state, table.clock), Action.COMMIT))
    assert began.state is State.INFLIGHT
    (tmp_path / f"part=p/aaaa-0_0-1-2_{time}.parquet").write_bytes(b"x")
    beats = tmp_path / ".hoodie/.heartbeat"
    beats.mkdir(exist_ok=True)
    (beats / time).touch()
    assert found(table) == {}
    os.utime(beats / time, (0, 0))
    assert found(table) == {"failed-write": {state.layout.path(began)}}


def test_a_write_whose_instant_is_not_on_the_timeline_yet(tmp_path):
    """Its heartbeat came first."""
    table = filled(tmp_path)
    time = new_time(table.state(), SystemClock())
    (tmp_path / ".hoodie/.heartbeat").mkdir(exist_ok=True)
    (tmp_path / ".hoodie/.heartbeat" / time).touch()
    (tmp_path / f"part=p/aaaa-0_0-1-2_{time}.parquet").write_bytes(b"x")
    assert found(table) == {}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("content", [b"", b"torn"])
def test_a_completed_commit_that_cannot_be_read(tmp_path, version, content):
    table = filled(tmp_path, version)
    path = body(table, table.timeline.commits[1])
    path.write_bytes(content)
    check = "torn-instant" if content else "empty-instant"
    assert found(table)[check] == {str(path.relative_to(tmp_path))}
    assert not {"orphan-file", "uncommitted-file", "missing-file"} & set(found(table))


def test_torn_cleans_of_either_state(tmp_path):
    table = filled(tmp_path)
    state = table.state()
    instants.request(state, time := new_time(state, table.clock), Action.CLEAN, b"torn")
    assert found(table) == {"torn-plan": {f".hoodie/timeline/{time}.clean.requested"}}


def test_what_died_is_told_with_what_ends_it(tmp_path):
    table = filled(tmp_path)
    state = table.state()
    begun = instants.start(state, instants.request(state, new_time(state, table.clock), Action.COMMIT))
    assert found(table) == {"failed-write": {state.layout.path(begun)}}
    (told,) = table.diagnose().findings
    assert begun.time in told.what
    assert "no process is known" in told.found


def test_leftovers_of_the_dead(tmp_path):
    table = filled(tmp_path)
    done = table.timeline.commits[-1].time
    (tmp_path / ".hoodie/.temp" / done).mkdir(parents=True)
    (tmp_path / ".hoodie/.temp" / done / "MARKERS0").write_bytes(b"")
    beat = tmp_path / ".hoodie/.heartbeat" / done
    beat.parent.mkdir(exist_ok=True)
    beat.touch()
    os.utime(beat, (0, 0))
    lock = tmp_path / ".hoodie/lock"
    lock.touch()
    assert found(table) == {"markers": {f".hoodie/.temp/{done}"}, "heartbeat": {f".hoodie/.heartbeat/{done}"}}
    os.utime(lock, (0, 0))
    assert found(table)["lock"] == {".hoodie/lock"}


def test_properties_against_their_backup(tmp_path):
    table = filled(tmp_path)
    main, backup = tmp_path / ".hoodie/hoodie.properties", tmp_path / ".hoodie/hoodie.properties.backup"
    backup.write_bytes(main.read_bytes())
    assert found(table) == {"properties-backup": {".hoodie/hoodie.properties.backup"}}
    main.write_bytes(main.read_bytes().replace(b"hoodie.table.name=trips", b"hoodie.table.name=other"))
    (told,) = table.diagnose().findings
    assert (told.check, told.found) == ("properties", "the checksum does not match") or "checksum" in told.found
    main.unlink()
    assert found(table) == {"properties": {".hoodie/hoodie.properties"}}


def test_names_of_anybody_do_no_harm(tmp_path):
    table = filled(tmp_path)
    for name in ("[red]x.parquet", "a\nb_0-1-2_1.parquet", "x_y_99999999999999999999999.parquet", ".crc", "café"):
        (tmp_path / "part=p" / name).write_bytes(b"x")
    (tmp_path / "part=p" / "sub").mkdir()
    (tmp_path / "inner/.hoodie").mkdir(parents=True)
    (tmp_path / "inner/aaaa-0_0-1-2_29990101000000000.parquet").touch()
    (tmp_path / ".hoodie/timeline/99.commit.requested").touch()
    assert set(found(table)) == {"orphan-file", "bad-time"}
    json.dumps(table.diagnose().as_dict())


def test_each_folder_is_listed_once_and_each_body_read_once(tmp_path):
    filled(tmp_path, commits=5)
    storage = CountingStorage(tmp_path)
    HoodieTable(storage).diagnose()
    assert len(storage.listed) == len(set(storage.listed))
    bodies = [path for path in storage.opened if path.startswith(".hoodie/timeline/")]
    assert len(bodies) == len(set(bodies)) == 5


def test_overdue_services_are_told(tmp_path):
    table = filled(tmp_path, commits=24)
    assert set(found(table)) == {"overdue-service"}


def test_files_of_an_empty_commit_without_its_other_states_are_nobodys_orphans(tmp_path):
    table = filled(tmp_path)
    commit = table.timeline.commits[-1]
    body(table, commit).write_bytes(b"")
    for pending in (tmp_path / ".hoodie/timeline").glob(f"{commit.time}.*"):
        pending.unlink()
    assert set(found(table)) == {"empty-instant"}


@pytest.mark.parametrize("appears", [False, True])
def test_what_changes_while_it_is_looked_at_is_not_told(tmp_path, appears):
    """An unlisted file that goes, as when its writer takes it back; a missing one that comes."""
    table = filled(tmp_path)
    file = tmp_path / (newest(table).path if appears else "part=p/aaaa-0_0-1-2_29990101000000000.parquet")
    content = file.read_bytes() if appears else b""

    class Changing(LocalStorage):
        def list(self, folder):
            found = super().list(folder)
            if folder == "part=p":
                file.write_bytes(content) if appears else file.unlink(missing_ok=True)
            return found

    file.unlink() if appears else file.write_bytes(content)
    assert HoodieTable(Changing(str(tmp_path))).diagnose().findings == ()
    if appears:  # it was listed while its writer was at work
        file.write_bytes(content[:50])
        assert HoodieTable(Changing(str(tmp_path))).diagnose().findings == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_moment_that_does_not_exist_hides_nothing_else(tmp_path, version):
    table = filled(tmp_path, version)
    folder = tmp_path / table.state().layout.folder
    (folder / "20250101240000000.deltacommit.requested").write_bytes(b"")
    (folder / "20250101000000000.commit.requested").write_bytes(b"")
    told = found(table)
    assert set(told) == {"bad-time", "failed-write"}
    assert told["bad-time"] == {f"{table.state().layout.folder}/20250101240000000.deltacommit.requested"}


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_that_were_written_to_a_replaced_group(tmp_path, version):
    """Hudi's bucketed writers go on to write to a file group that a delete_partition took out."""
    kind = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    table = create(tmp_path, FakeClock(), **kind)
    writes = [table.write(batch([("a", "p", n, n), ("b", "q", n, n)]), "upsert", SMALL_BLOOM) for n in range(2)]
    table.clock.sleep(60)
    late = table.write(batch([("a", "p", 5, 5), ("b", "q", 5, 5)]), "upsert", SMALL_BLOOM)
    table.delete_partitions(["part=p"], SMALL_BLOOM)
    assert "replaced-group" not in found(table)
    drop = table.timeline.commits[-1].time
    between = parse_time(writes[-1].instant.time, UTC) + timedelta(seconds=10)
    for file in Path(table.base_path, table.state().layout.folder).glob(f"{drop}*"):
        file.rename(file.with_name(file.name.replace(drop[:14], f"{between:%Y%m%d%H%M%S}")))
    (path,) = found(table)["replaced-group"]
    (finding,) = (each for each in table.diagnose().findings if each.check == "replaced-group")
    assert path.startswith("part=p/")
    assert finding.instant == late.instant.time
