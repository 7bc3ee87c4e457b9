"""Killed at any storage call, a table reads as before or as after, and the next run finishes the job."""

from __future__ import annotations

import re
import shutil

import pytest

from hoodie import CLEAN, CLUSTERING, COMPACTION, LOG_COMPACTION, GiveUpClustering, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.formats.bootstrap_index import PARTITIONS_PATH
from hoodie.formats.log import scan_blocks
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.storage import LocalStorage, walk_files
from hoodie.transaction.audit import audit_names, read_audit
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import covering
from tests.support.sources import TABLE, contents, hive_source
from tests.support.tables import SMALL_BLOOM, batch, content, create

FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)])
SECOND = batch([("a", "p", 2, 2), ("d", "p", 2, 2), ("e", "r", 2, 2)])
RETAIN_ONE = {"hoodie.clean.commits.retained": 1}
WRITES = [
    ("COPY_ON_WRITE", "upsert"),
    ("COPY_ON_WRITE", "bulk_insert"),
    ("COPY_ON_WRITE", "delete"),
    ("MERGE_ON_READ", "upsert"),
    ("MERGE_ON_READ", "delete"),
    ("COPY_ON_WRITE", "insert_overwrite"),
    ("MERGE_ON_READ", "insert_overwrite_table"),
    ("MERGE_ON_READ", "delete_partition"),
    ("COPY_ON_WRITE", "switch"),
    ("MERGE_ON_READ", "switch"),
]
DEATHS = [
    ("kill", False),
    ("kill", True),
    ("full", False),
]  # the kind of failure, and whether half of a file is written


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


def reopen(storage, clock):
    return HoodieTable.open(storage, clock=clock, engine=LocalEngine(1))


def run_to_failure(tmp_path, prepare, action, kind, half, few=10):
    """Run `action` on copies of one table, failing at the first call, the second …, until it gets through.

    Yields (copy, clock, call that failed) for each.
    """
    origin = tmp_path / "origin"
    prepare(origin)
    for fail_at in range(1, 1000):
        path = tmp_path / "run"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(origin, path)
        clock = FakeClock(FakeClock().time.replace(month=2))
        storage = FaultyStorage(path, fail_at, kind, half)
        try:
            action(HoodieTable(storage, LocalEngine(1), clock))
        except (Killed, OSError, HoodieError) as error:
            yield LocalStorage(str(path)), clock, f"{fail_at}: {error}"
        else:
            assert fail_at > few, "the action made too few storage calls to be true"
            return


def uncommitted(table):
    """Data files of instants that are not on the timeline."""
    times = {instant.time for instant in table.timeline.commits}
    found = []
    for file in walk_files(table.storage, ""):
        if file.name.endswith(".parquet"):
            instants = {file.name.rpartition("_")[2].removesuffix(".parquet")}
        elif ".log." in file.name and not file.path.startswith(".hoodie"):
            instants = {block.instant for block in scan_blocks(table.storage, file.path)}
        else:
            continue
        if not instants <= times:
            found.append(file.path)
    return found


@pytest.mark.format("11a", "11k", "11p")
@pytest.mark.parametrize(
    ("table_type", "operation", "version", "kind", "half"),
    covering([(*write, version, *death) for write in WRITES for version in ("9", "6") for death in DEATHS]),
)
def test_a_write_that_dies_at_any_call(tmp_path, version, table_type, operation, kind, half):
    # In the merge-on-read table an upsert writes a log and new base files.
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0} if table_type == "MERGE_ON_READ" else SMALL_BLOOM
    if operation == "switch":  # an upsert that turns to virtual keys
        operation, options = "upsert", {**options, "hoodie.populate.meta.fields": "false"}

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
        table.write(FIRST, "insert", {**options, "hoodie.populate.meta.fields": "true"})

    rows = SECOND.filter([False, False, True]) if operation == "bulk_insert" else SECOND
    prepare(tmp_path / "before")
    before = content(reopen(LocalStorage(str(tmp_path / "before")), FakeClock()))
    done = reopen(LocalStorage(str(tmp_path / "before")), FakeClock(FakeClock().time.replace(month=2)))
    done.write(rows, operation, options)
    after = content(done)
    assert before != after

    completed = 0
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda t: t.write(rows, operation, options), kind, half
    ):
        table = reopen(storage, clock)
        now = content(table)
        assert now in (before, after), call
        completed += now == after
        # The next run finishes the job; doing it again after it was visible changes nothing for upserts and deletes.
        if not (operation == "bulk_insert" and now == after):
            table.write(rows, operation, options)
        else:
            table.write(batch([]), "upsert", options)
        assert content(table) == after, call
        assert uncommitted(table) == [], call
        assert table.timeline.pending == (), call
        assert not table.storage.list(".hoodie/.temp").folders or now == after, call
        assert table.storage.info(".hoodie/lock") is None
    if kind == "kill":
        assert completed, "no crash after the commit became visible was tried"


@pytest.mark.format("11b", "11e")
@pytest.mark.parametrize(
    ("version", "kind", "half"), covering([(version, *death) for version in ("9", "6") for death in DEATHS])
)
def test_a_clean_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
        for step in range(4):
            table.write(batch([("a", "p", step, step), ("c", "q", step, step)]), "upsert", SMALL_BLOOM)

    prepare(tmp_path / "done")
    done = reopen(LocalStorage(str(tmp_path / "done")), FakeClock(FakeClock().time.replace(month=2)))
    expected = content(done)
    done.run(CLEAN, RETAIN_ONE)
    left = sorted(
        file.name.rpartition("_")[2] for file in walk_files(done.storage, "") if file.name.endswith(".parquet")
    )
    assert len(left) == 4

    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.run(CLEAN, RETAIN_ONE), kind, half
    ):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        table.run(CLEAN, RETAIN_ONE)
        assert content(table) == expected, call
        names = sorted(
            file.name.rpartition("_")[2] for file in walk_files(storage, "") if file.name.endswith(".parquet")
        )
        assert names == left, call
        assert table.timeline.pending == (), call
        cleans = [instant for instant in table.timeline if instant.action == "clean"]
        assert len(cleans) >= 1, call
        noted = [read_audit(storage, name) for name in audit_names(storage)]
        before = {
            file.path for file in walk_files(LocalStorage(str(tmp_path / "origin")), "") if ".parquet" in file.name
        }
        gone = before - {file.path for file in walk_files(storage, "")}
        assert len(gone) == 4, call
        assert {file.path for entry in noted for file in entry.files} == gone, call
        assert all(entry.done is not None for entry in noted), call


@pytest.mark.format("11f", "11g")
@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", True), ("9", "full", False), ("6", "kill", False)])
def test_a_compaction_that_dies_at_any_call(tmp_path, version, kind, half):
    """Scheduling, then executing. Each way to die is tried on one version: the calls are the same in both."""
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    properties = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}

    def prepare(path):
        table = create(path, FakeClock(), **properties)
        table.write(FIRST, "insert", options)
        table.write(batch([("a", "p", 2, 2), ("c", "q", 2, 2)]), "upsert", options)

    def compact(table):
        if not [instant for instant in table.timeline.pending if instant.action == "compaction"]:
            table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)

    prepare(tmp_path / "done")
    done = reopen(LocalStorage(str(tmp_path / "done")), FakeClock(FakeClock().time.replace(month=2)))
    expected = content(done)
    compact(done)
    assert content(done) == expected
    files = len([file for file in walk_files(done.storage, "") if file.name.endswith(".parquet")])

    for storage, clock, call in run_to_failure(tmp_path, prepare, compact, kind, half):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        if not any(instant.action == "commit" for instant in table.timeline.commits):
            compact(table)
        assert content(table) == expected, call
        table.write(batch([("a", "p", 3, 3)]), "upsert", options)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call
        assert len([file for file in walk_files(storage, "") if file.name.endswith(".parquet")]) == files, call


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", True), ("9", "full", False), ("6", "kill", False)])
def test_a_log_compaction_that_dies_at_any_call(tmp_path, monkeypatch, version, kind, half):
    """Scheduling, then executing: an upsert and a deletion, which make a block of rows and one of keys."""
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    properties = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    wanted = {"hoodie.log.compaction.blocks.threshold": 2}
    monkeypatch.setattr(
        "hoodie.services.log_compaction.plan.check_supported", lambda _state: None
    )  # in version 6 Hudi's

    def prepare(path):
        table = create(path, FakeClock(), **properties)
        table.write(FIRST, "insert", options)
        table.write(batch([("a", "p", 2, 2)]), "upsert", options)
        table.write(batch([("b", "p", 2, 2)]), "delete", options)

    def compact(table):
        if not any(instant.action == "logcompaction" for instant in table.timeline.pending):
            table.schedule(LOG_COMPACTION, wanted)
        table.run(LOG_COMPACTION, SMALL_BLOOM)

    def logs(storage):
        return sorted(file.name.partition(".log.")[0] for file in walk_files(storage, "part=p") if ".log." in file.name)

    prepare(tmp_path / "done")
    done = reopen(LocalStorage(str(tmp_path / "done")), FakeClock(FakeClock().time.replace(month=2)))
    expected = content(done)
    compact(done)
    assert content(done) == expected
    assert len(logs(done.storage)) == 3

    for storage, clock, call in run_to_failure(tmp_path, prepare, compact, kind, half):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        if not any(table.state().commit_metadata(i).operation == "LOG_COMPACT" for i in table.timeline.commits):
            compact(table)
        assert content(table) == expected, call
        assert len(logs(storage)) == 3, call
        table.write(batch([("a", "p", 3, 3)]), "upsert", options)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call


CLUSTERED = [
    ("9", "kill", True, "MERGE_ON_READ"),
    ("9", "full", False, "COPY_ON_WRITE"),
    ("6", "kill", False, "MERGE_ON_READ"),
]


def clustered(path, version, table_type):
    """Three small file groups, with an update and a deletion."""
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
    table.write(FIRST, "insert", options)
    table.write(batch([("d", "p", 1, 1), ("e", "p", 1, 1)]), "insert", options)
    table.write(batch([("a", "p", 2, 2)]), "upsert", options)
    table.write(batch([("b", "p", 2, 2)]), "delete", options)
    return table


@pytest.mark.parametrize(("version", "kind", "half", "table_type"), CLUSTERED)
def test_a_clustering_that_dies_at_any_call(tmp_path, version, kind, half, table_type):
    """Scheduling, then executing: two file groups of a partition become one."""
    expected = {"a": ("p", 2, 2), "c": ("q", 1, 1), "d": ("p", 1, 1), "e": ("p", 1, 1)}

    def cluster(table):
        if not table.timeline.pending:
            table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.sort.columns": "value"}, force=True)
        table.run(CLUSTERING, SMALL_BLOOM)

    def prepare(path):
        clustered(path, version, table_type)

    for storage, clock, call in run_to_failure(tmp_path, prepare, cluster, kind, half):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        done = [i for i in table.timeline.commits if table.state().commit_metadata(i).operation == "CLUSTER"]
        if not done:
            cluster(table)
        assert content(table) == expected, call
        assert [each.partition for each in table.file_slices()] == ["part=p", "part=q"], call
        table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call


def killed(*_):
    raise Killed


@pytest.mark.parametrize("version", ["9", "6"])
def test_giving_up_a_clustering_that_dies_at_any_call(tmp_path, monkeypatch, version):
    """Its execution was begun, and had written its files."""
    expected = {"a": ("p", 2, 2), "c": ("q", 1, 1), "d": ("p", 1, 1), "e": ("p", 1, 1)}

    def prepare(path):
        table = clustered(path, version, "COPY_ON_WRITE")
        table.schedule(CLUSTERING, force=True)
        with monkeypatch.context() as patch:
            patch.setattr("hoodie.transaction.transaction.Transaction.commit", killed)
            with pytest.raises(Killed):
                table.run(CLUSTERING, SMALL_BLOOM)

    def give_up(table):
        for pending in table.timeline.pending:
            if pending.action is table.state().layout.clustering:
                table.run(GiveUpClustering(pending.time))

    for storage, clock, call in run_to_failure(tmp_path, prepare, give_up, "kill", True):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        give_up(table)
        table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call


def test_creating_a_table_that_dies(tmp_path):
    for fail_at in range(1, 20):
        path = tmp_path / f"t{fail_at}"
        try:
            create(FaultyStorage(path, fail_at, half=True))
        except Killed:
            try:
                create(path)
            except HoodieError:
                assert content(HoodieTable.open(str(path))) == {}
        else:
            return
    pytest.fail("creating a table makes more calls than it should")


def test_switching_off_the_metadata_table_that_dies(tmp_path, version):
    from hoodie.config.store import load_properties, update_properties

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
        table.write(FIRST, "insert", SMALL_BLOOM)
        properties = table.properties.with_values({"hoodie.table.metadata.partitions": "files"})
        update_properties(table.storage, properties)
        table.storage.create(".hoodie/metadata/files/stale", b"x")

    def action(table):
        table.write(SECOND, "upsert", SMALL_BLOOM)

    for storage, clock, call in run_to_failure(tmp_path, prepare, action, "kill", True):
        properties = load_properties(storage, clock)
        stale = bool(storage.list(".hoodie/metadata").folders)
        committed = len(reopen(storage, clock).timeline.commits) == 2
        # No reader may be told to trust the stale table once a commit is visible that it misses.
        assert not (committed and properties.has_metadata_table), call
        assert not (committed and stale), call
        reopen(storage, clock).write(SECOND, "upsert", SMALL_BLOOM)
        assert not reopen(storage, clock).properties.has_metadata_table
        assert storage.list(".hoodie/metadata").folders == ()


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", True), ("9", "full", False), ("6", "kill", False)])
@pytest.mark.parametrize("regex", [".*", "part=p2"])
def test_a_bootstrap_that_dies_at_any_call(tmp_path, version, kind, half, regex):
    """All rows left in the source, and one partition of two. Each way to die is tried on one version."""
    source = hive_source(tmp_path / "source")
    before = contents(source)
    options = {
        "hoodie.bootstrap.base.path": str(source),
        "hoodie.bootstrap.mode.selector.regex": regex,
        **SMALL_BLOOM,
    }
    properties = {**TABLE, "hoodie.write.table.version": version}

    def bootstrap(table):
        asked = BootstrapRequest(table.storage, properties, options)
        return run_bootstrap(asked, table.clock, LocalEngine(1))

    (tmp_path / "done").mkdir()
    done = HoodieTable(LocalStorage(str(tmp_path / "done")), LocalEngine(1), FakeClock())
    bootstrap(done)
    found = done.read().to_pylist()
    rows = sorted(map(repr, found))
    # Of a mix the rows that stay where they are become visible right before the others.
    first = sorted(repr(row) for row in found if re.fullmatch(regex, f"part={row['part']}"))
    files = sorted(file.path.rpartition("/")[0] for file in walk_files(done.storage, ""))

    for storage, clock, call in run_to_failure(tmp_path, lambda path: path.mkdir(), bootstrap, kind, half):
        again = HoodieTable(storage, LocalEngine(1), clock)
        if storage.info(".hoodie/hoodie.properties") is not None:
            visible = sorted(map(repr, again.read().to_pylist()))
            assert visible in ([], first, rows), call
        bootstrap(again)
        assert sorted(map(repr, again.read().to_pylist())) == rows, call
        assert uncommitted(again) == [], call
        assert again.timeline.pending == (), call
        data = [file.path for file in walk_files(storage, "") if not file.path.startswith(".hoodie/timeline")]
        kept = [path.rpartition("/")[0] for path in data]
        index = [path for path in kept if ".bootstrap" in path or "part=" in path]
        assert index == [path for path in files if ".bootstrap" in path or "part=" in path], call
        assert contents(source) == before
    assert len(bootstrap(done).commits) == (1 if regex == ".*" else 2)


def test_what_a_dead_bootstrap_left_goes_with_the_next_write(tmp_path):
    hive_source(tmp_path / "source")
    asked = {"hoodie.bootstrap.base.path": str(tmp_path / "source"), **SMALL_BLOOM}
    calls = FaultyStorage(tmp_path / "count")
    run_bootstrap(BootstrapRequest(calls, TABLE, asked), FakeClock(), LocalEngine(1))
    completed = next(n for n, (_, path) in enumerate(calls.log, 1) if "00000000000001_" in path)
    dying = FaultyStorage(tmp_path / "t", completed)
    clock = FakeClock()
    with pytest.raises(Killed):
        run_bootstrap(BootstrapRequest(dying, TABLE, asked), clock, LocalEngine(1))
    assert (tmp_path / "t" / PARTITIONS_PATH).exists()
    table = reopen(LocalStorage(str(tmp_path / "t")), clock)
    table.write(FIRST, "upsert", SMALL_BLOOM)
    assert len(content(table)) == 3
    assert uncommitted(table) == []
    assert not any(file.name.endswith(".hfile") for file in walk_files(table.storage, ""))
