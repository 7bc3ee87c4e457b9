"""The names in any metadata file: only files that it may name are deleted, and nothing is written outside of the table."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import CorruptTableError, HoodieError, UnsafeDeleteError, UnsafePathError
from hoodie.formats import avro_file
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.storage import LocalStorage
from hoodie.timeline import Action, Instant, State
from hoodie.transaction import instants
from hoodie.transaction.guard import delete_metadata_folder
from hoodie.transaction.locks import table_lock
from hoodie.transaction.locks.files import LOCK
from tests.support.clock import FakeClock
from tests.support.examples import examples
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, create

LATER = "20260601000000000"
LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
BASE = "11111111-1111-1111-1111-111111111111-0_0-0-0_{}.parquet"
WORDS = [
    *(
        "",
        ".",
        "..",
        "../..",
        "../../..",
        "../../../keep",
        "../keep",
        "/",
        "//",
        "/keep",
        "\0",
        "x\0y",
        "a/../../..",
        "a b",
    ),
    *(".hoodie", ".hoodie/..", ".hoodie/timeline", ".hoodie/metadata", "./.hoodie", "part=p", "part=p/..", "part=p/."),
    *("20260101", LATER, "00000000000001", "٢٠٢٦", "²", "1" * 400, BASE.format(LATER), "../keep/" + BASE.format(LATER)),
    *(
        "hoodie.properties",
        ".hoodie/hoodie.properties",
        "part=p/.hoodie_partition_metadata",
        "<table>",
        "<keep>",
        "<stored>",
    ),
]
HOSTILE = st.sampled_from(WORDS) | st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map("/".join)
LISTS = st.lists(HOSTILE, max_size=3)


@pytest.fixture(scope="module", params=["9", "6"])
def origin(request, tmp_path_factory):
    """A table with logs beside a folder that does not belong to it."""
    folder = tmp_path_factory.mktemp("origin")
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    table = create(folder / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", LOGS)
    table.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    (folder / "keep").mkdir()
    (folder / "keep" / BASE.format(LATER)).write_bytes(b"a neighbour's")
    (folder / "keep" / "hoodie.properties").write_bytes(b"a neighbour's")
    return folder


class Attacked:
    """A copy of the table, what was in it, and what the attack names."""

    def __init__(self, origin, tmp_path):
        self.folder = tmp_path / "run"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(origin, self.folder)
        clock = FakeClock(FakeClock().time.replace(month=7))
        self.table = HoodieTable.open(LocalStorage(str(self.folder / "t")), clock=clock, engine=LocalEngine(1))
        self.before = self.tree()
        self.stored = sorted(name for name in self.before if name.endswith(".parquet") and name.startswith("t/part="))[
            0
        ]

    def tree(self):
        return {
            str(file.relative_to(self.folder)): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()
        }

    def word(self, text):
        stored = self.stored.removeprefix("t/")
        places = {"<table>": self.table.base_path, "<keep>": str(self.folder / "keep"), "<stored>": stored}
        for name, value in places.items():
            text = text.replace(name, value)
        return text

    def request(self, action, name, record):
        self.put(action, avro_file.encode(name, record))

    def put(self, action, body, time=LATER):
        state = self.table.state()
        instants.start(state, instants.request(state, time, action, body))

    def check(self, named=()):
        """Everything is done with the table; only what `named` names, and what the library keeps for itself, may go."""
        for step in (
            lambda: self.table.read(),
            lambda: self.table.run(CLEAN, {"hoodie.clean.commits.retained": 1}),
            lambda: self.table.run(COMPACTION),
            lambda: self.table.run(LOG_COMPACTION),
            lambda: self.table.write(batch([("c", "p", 3, 3)]), "upsert", LOGS),
            lambda: self.table.run(CLEAN, {"hoodie.clean.commits.retained": 2}),
        ):
            with suppress(HoodieError):
                step()
        after = self.tree()
        for name in after.keys() - self.before.keys():
            assert name.startswith("t/"), f"made outside: {name}"
        meant = {self.word(text).removeprefix(self.table.base_path + "/").removeprefix("/") for text in named}
        for name, content in self.before.items():
            if name.startswith(("t/.hoodie/", "keep/")) or name.removeprefix("t/") not in meant:
                assert after.get(name) == content, f"gone or changed: {name}"


def attack(test):
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples(50), deadline=None, suppress_health_check=checks)(test)


@attack
@given(HOSTILE, st.sampled_from([*Action, "x", "../..", ""]), HOSTILE, LISTS)
@example("../..", Action.COMMIT, "", [])
@example("../../../keep", Action.COMMIT, "", [])
@example("..", Action.COMMIT, "", [])
@example(LATER, Action.DELTA_COMMIT, "part=p", ["<stored>"])
@example(LATER, Action.DELTA_COMMIT, "part=p", ["<table>/<stored>", "/etc/passwd"])
def test_the_plan_of_a_rollback(origin, tmp_path, time, action, partition, files):
    attacked = Attacked(origin, tmp_path)
    words = [attacked.word(text) for text in files]
    request = {
        "partitionPath": attacked.word(partition),
        "fileId": "",
        "latestBaseInstant": "",
        "filesToBeDeleted": words,
        "logBlocksToBeDeleted": {},
    }
    record = {
        "instantToRollback": {"commitTime": time, "action": str(action)},
        "RollbackRequests": [request],
        "version": 1,
    }
    attacked.request(Action.ROLLBACK, "HoodieRollbackPlan", record)
    attacked.check()  # nothing of what is there is of the instant that the plan is about


@attack
@given(HOSTILE, LISTS, LISTS, LISTS, HOSTILE)
@example("part=p", ["../../../keep/hoodie.properties", "<stored>"], [], [], "")
@example("", [], ["../keep/hoodie.properties"], [], "")
@example("", [], [], [], "")
@example("part=p", [], [], ["<keep>/hoodie.properties"], LATER)
@example("part=p", [], [], ["<table>/<stored>"], LATER)
def test_the_plan_of_a_clean(origin, tmp_path, partition, paths, names, sources, watermark):
    attacked = Attacked(origin, tmp_path)
    partition = attacked.word(partition)
    paths, names, sources = ([attacked.word(text) for text in texts] for texts in (paths, names, sources))
    entries = [{"filePath": path, "isBootstrapBaseFile": False} for path in paths]
    entries += [{"filePath": path, "isBootstrapBaseFile": True} for path in sources]
    record = {
        "earliestInstantToRetain": {"timestamp": watermark, "action": "commit", "state": "COMPLETED"},
        "lastCompletedCommitTimestamp": watermark,
        "policy": "KEEP_LATEST_COMMITS",
        "filesToBeDeletedPerPartition": {partition: names},
        "version": 2,
        "filePathsToBeDeletedPerPartition": {partition: entries},
        "partitionsToBeDeleted": [partition],
        "extraMetadata": {},
    }
    attacked.request(Action.CLEAN, "HoodieCleanerPlan", record)
    attacked.check([*paths, *(f"{partition}/{name}" for name in names)])


@attack
@given(st.sampled_from([Action.COMPACTION, Action.LOG_COMPACTION]), HOSTILE, HOSTILE, HOSTILE, HOSTILE, LISTS)
@example(Action.COMPACTION, "../keep", "x", LATER, "", [])
@example(Action.COMPACTION, "part=p", "../../keep/x", LATER, "", [])
def test_the_plan_of_a_compaction(origin, tmp_path, action, partition, file_id, instant, base, logs):
    attacked = Attacked(origin, tmp_path)
    operation = {
        "baseInstantTime": instant,
        "deltaFilePaths": [attacked.word(text) for text in logs],
        "dataFilePath": attacked.word(base) or None,
        "fileId": attacked.word(file_id),
        "partitionPath": attacked.word(partition),
        "metrics": {},
        "bootstrapFilePath": None,
    }
    attacked.request(action, "HoodieCompactionPlan", {"operations": [operation], "extraMetadata": {}, "version": 2})
    attacked.check()


@attack
@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@example("../keep", "../keep/" + BASE.format(LATER), "x", "../keep")
@example("/keep", "/etc/passwd", "x", "")
def test_the_body_of_a_commit(origin, tmp_path, partition, path, file_id, replaced):
    attacked = Attacked(origin, tmp_path)
    state = attacked.table.state()
    stat = {"fileId": attacked.word(file_id), "path": attacked.word(path), "prevBaseFile": attacked.word(path)}
    record = {
        "partitionToWriteStats": {attacked.word(partition): [{**stat, "partitionPath": attacked.word(partition)}]},
        "partitionToReplaceFileIds": {attacked.word(replaced): [attacked.word(file_id)]},
        "compacted": False,
        "extraMetadata": {},
        "operationType": "INSERT_OVERWRITE",
    }
    body = json.dumps(record).encode()
    if attacked.table.version != 6:
        body = avro_file.encode("HoodieReplaceCommitMetadata", record)
    done = Instant(LATER, Action.REPLACE_COMMIT, State.INFLIGHT)
    name = state.layout.completed_name(done, "20260601000000001")
    attacked.table.storage.create(f"{state.layout.folder}/{name}", body)
    attacked.before = attacked.tree()
    attacked.check()


@attack
@given(LISTS)
@example(["../keep/" + BASE.format(LATER)])
@example(["<stored>"])
@example(["part=p/.hoodie_partition_metadata/" + BASE.format(LATER)])
def test_the_markers_of_a_timeline_server(origin, tmp_path, paths):
    attacked = Attacked(origin, tmp_path)
    attacked.put(Action.DELTA_COMMIT, b"")
    lines = "".join(f"{attacked.word(path)}.marker.CREATE\n" for path in paths)
    attacked.table.storage.create(f".hoodie/.temp/{LATER}/MARKERS0", lines.encode())
    attacked.check()


def test_a_marker_names_files_of_its_own_instant_only(origin, tmp_path):
    attacked = Attacked(origin, tmp_path)
    attacked.put(Action.DELTA_COMMIT, b"")
    DirectMarkers(attacked.table.storage, LATER).create(attacked.stored.removeprefix("t/"), MarkerType.CREATE)
    with pytest.raises(UnsafeDeleteError, match=r"it is a file of instant 2026.* about instant 20260601"):
        attacked.table.write(batch([("c", "p", 3, 3)]), "upsert", LOGS)
    attacked.check()


def test_a_refused_plan_deletes_nothing_of_what_it_may_name(origin, tmp_path):
    attacked = Attacked(origin, tmp_path)
    request = {
        "partitionPath": "part=p",
        "fileId": "",
        "latestBaseInstant": "",
        "filesToBeDeleted": ["part=p/" + BASE.format(LATER), "part=p/zzz"],
        "logBlocksToBeDeleted": {},
    }
    mine = attacked.folder / "t/part=p" / BASE.format(LATER)
    mine.write_bytes(b"of the instant")
    record = {
        "instantToRollback": {"commitTime": LATER, "action": "commit"},
        "RollbackRequests": [request],
        "version": 1,
    }
    attacked.request(Action.ROLLBACK, "HoodieRollbackPlan", record)
    with pytest.raises(UnsafeDeleteError, match="part=p/zzz"):
        attacked.table.write(batch([("c", "p", 3, 3)]), "upsert", LOGS)
    assert mine.exists()


@pytest.mark.parametrize("token", ["../../../keep/x", "", ".", "a/b", "x" * 300, 7, None, ["a"]])
@pytest.mark.parametrize("pid", [999999, "text", None, -1, 1 << 40, True])
def test_a_lock_whose_words_are_no_words_is_anothers(tmp_path, token, pid):
    storage = LocalStorage(str(tmp_path / "t"))
    with table_lock(storage, FakeClock(), "upsert", NO_WAIT):
        entry = json.loads(storage.read(LOCK))
    changed = json.dumps({**entry, "boot": "another", "token": token, "pid": pid}).encode()
    storage.create(LOCK, changed)
    with (
        pytest.raises(HoodieError, match="locked by another writer"),
        table_lock(storage, FakeClock(), "clean", NO_WAIT),
    ):
        pytest.fail("took a lock that nobody can judge")
    assert [file.name for file in (tmp_path / "t/.hoodie").iterdir()] == ["lock"]


@pytest.mark.parametrize(
    "record", [{"partitionToWriteStats": 5}, {"partitionToWriteStats": {"p": [{"path": 5}]}}, {"extraMetadata": [1]}]
)
def test_a_body_of_another_form_is_named(origin, tmp_path, record):
    attacked = Attacked(origin, tmp_path)
    layout = attacked.table.state().layout
    instant = Instant(LATER, Action.COMMIT, State.COMPLETED, None, f"{LATER}.commit")
    with pytest.raises((CorruptTableError, UnsafePathError), match=LATER):
        layout.decode_commit(json.dumps(record).encode(), instant)


@pytest.mark.parametrize("path", ["..", "../keep", "/keep", "a/../../keep", "a\0b"])
def test_no_verb_of_a_storage_leads_out_of_the_table(tmp_path, path):
    (tmp_path / "keep").write_bytes(b"a neighbour's")
    storage = LocalStorage(str(tmp_path / "t"))
    storage.create("a/b", b"")

    def output():
        with storage.open_output(path):
            pass

    for verb in (
        *(lambda name=name: getattr(storage, name)(path) for name in ("list", "info", "read", "open_input", "delete")),
        lambda: storage.delete_folder(path),
        lambda: storage.create(path, b"x"),
        output,
    ):
        with pytest.raises(UnsafePathError, match="leads out of"):
            verb()
    assert (tmp_path / "keep").read_bytes() == b"a neighbour's"


@pytest.mark.parametrize(
    "folder",
    [
        "",
        ".hoodie",
        ".hoodie/timeline",
        ".hoodie/.temp",
        ".hoodie/.temp/x",
        "part=p",
        ".hoodie/.temp/1/2",
        ".hoodie/.staged",
        ".hoodie/.staged/x",
    ],
)
def test_only_folders_of_known_kinds_are_deleted(tmp_path, folder):
    storage = LocalStorage(str(tmp_path))
    storage.create(f"{folder}/x" if folder else "x", b"")
    with pytest.raises(UnsafeDeleteError, match="Refused"):
        delete_metadata_folder(storage, folder)
    assert any(tmp_path.rglob("x"))


@pytest.mark.parametrize("folder", ["", "."])
def test_a_storage_never_deletes_itself(tmp_path, folder):
    storage = LocalStorage(str(tmp_path))
    with pytest.raises(UnsafePathError):
        storage.delete_folder(folder)
    assert tmp_path.exists()


@attack
@given(st.lists(st.tuples(HOSTILE, st.sampled_from([*Action, "x", "../..", ""])), max_size=3), HOSTILE)
@example([("../..", Action.COMMIT)], "")
@example([("../../../keep", Action.DELTA_COMMIT)], LATER)
@example([(LATER, Action.COMMIT)], "../keep")
def test_the_plan_of_a_restore(origin, tmp_path, undone, savepoint):
    attacked = Attacked(origin, tmp_path)
    record = {
        "instantsToRollback": [{"commitTime": time, "action": str(action)} for time, action in undone],
        "version": 2,
        "savepointToRestoreTimestamp": savepoint,
    }
    attacked.request(Action.RESTORE, "HoodieRestorePlan", record)
    attacked.check()


@attack
@given(HOSTILE, HOSTILE, LISTS)
@example("../keep", "../keep", ["hoodie.properties"])
@example("part=p", "part=p", ["../../keep/hoodie.properties", "/etc/passwd"])
@example("", "", [".hoodie/hoodie.properties"])
def test_the_body_of_a_savepoint(origin, tmp_path, partition, named, files):
    """It names files to keep: nothing uses it to delete, and none of the files is opened."""
    attacked = Attacked(origin, tmp_path)
    state = attacked.table.state()
    commit = state.timeline.commits[0].time
    names = [attacked.word(text) for text in files]
    record = {
        "savepointedBy": "x",
        "savepointedAt": 0,
        "comments": "",
        "partitionMetadata": {
            attacked.word(partition): {"partitionPath": attacked.word(named), "savepointDataFile": names}
        },
        "version": 1,
    }
    started = instants.start(state, Instant(commit, Action.SAVEPOINT, State.INFLIGHT))
    instants.complete(state, started, avro_file.encode("HoodieSavepointMetadata", record), attacked.table.clock)
    older = {name.removeprefix("t/") for name in attacked.before if name.startswith("t/part=")}
    attacked.check(older)  # a clean may take what is superseded, and nothing else
