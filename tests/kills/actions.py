"""Actions that are killed at each of their storage calls, and the steps of the next process that recovers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hoodie import ARCHIVE, CLEAN, CLUSTERING, COMPACTION, LOG_COMPACTION, HoodieTable, Restore, Rollback
from hoodie.config.properties.store import update_properties
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.table import WriteHooks
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.faulty import Killed as Died
from tests.support.history import make_version_8
from tests.support.sources import put
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
BESIDE_OTHERS = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
SORTED = {"hoodie.clustering.plan.strategy.sort.columns": "value"}
ACROSS = {"hoodie.index.type": "GLOBAL_SIMPLE"}  # a key moves to the partition of its last row
RETAIN_ONE = {"hoodie.clean.commits.retained": 1}
CHANGED = batch([("a", "p", 2, 2), ("d", "p", 2, 2), ("e", "r", 2, 2)])
NEW = CHANGED.slice(1)  # the keys that are not there: an insert adds the others a second time

_SOURCE = "source"  # a plain table beside the one that a bootstrap makes of it

Act = Callable[[HoodieTable], object]


@dataclass(frozen=True)
class Killed:
    """One action on one kind of table. `again` is the user's next step: nothing when the next write does it all.

    `hudi` is an extra call that Hudi makes before its next write.
    """

    name: str
    kind: str
    version: str
    prepare: Act
    act: Act
    again: Act
    hudi: str = ""

    @property
    def title(self) -> str:
        """Its name and kind of table, as in the matrix."""
        return f"{self.name}, {'copy-on-write' if self.kind == COW else 'merge-on-read'}"

    @property
    def id(self) -> str:
        return f"{self.name}-{self.kind}-{self.version}".replace(" ", "_")

    def make(self, path: Path) -> HoodieTable | None:
        """The table before the action; none before it is created."""
        if self.name in ("create", "bootstrap"):
            path.mkdir()
            _plain_table(path.parent)
            return None
        version = {"hoodie.write.table.version": "6" if self.version == "6" else "9"}
        table = create(path, FakeClock(), **version, **{"hoodie.table.type": self.kind})
        if self.version == "8":
            make_version_8(table)
        table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), "insert", LOGS)
        self.prepare(table)
        return table


def _nothing(table: HoodieTable) -> None:
    pass


def _write(table: HoodieTable, operation: str, more: dict[str, str] | None = None) -> None:
    table.write(NEW if "insert" in operation else CHANGED, operation, {**LOGS, **(more or {})})


def _overwrite(table: HoodieTable, operation: str) -> None:
    table.write(CHANGED, operation, LOGS)


def _rewrite(table: HoodieTable, operation: str) -> None:
    """Repeat the write, as a user does without knowing whether it has become visible."""
    table.write(NEW if "insert" in operation else CHANGED, "delete" if operation == "delete" else "upsert", LOGS)


def _drop_partition(table: HoodieTable) -> None:
    table.delete_partitions(["p"])


def _updates(table: HoodieTable) -> None:
    for step in (2, 3):
        table.write(batch([("a", "p", step, step), ("c", "q", step, step)]), "upsert", LOGS)


def _compact(table: HoodieTable) -> None:
    if not [each for each in table.timeline.pending if each.action is Action.COMPACTION]:
        table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)


def _compact_logs(table: HoodieTable) -> None:
    if not [each for each in table.timeline.pending if each.action is Action.LOG_COMPACTION]:
        table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
    table.run(LOG_COMPACTION, SMALL_BLOOM)


def _move(table: HoodieTable) -> None:
    table.write(batch([("a", "r", 2, 2), ("c", "p", 2, 2), ("d", "q", 2, 2)]), "upsert", {**LOGS, **ACROSS})


def _two_files(table: HoodieTable) -> None:
    table.write(batch([("f", "p", 2, 2), ("a", "p", 2, 2)]), "upsert", LOGS)


def _cluster(table: HoodieTable) -> None:
    if not [each for each in table.timeline.pending if each.action is table.state().layout.clustering]:
        table.schedule(CLUSTERING, SORTED, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)


def _clean(table: HoodieTable) -> None:
    table.run(CLEAN, RETAIN_ONE)


def _cleaned(table: HoodieTable) -> None:
    for step in range(2, 7):
        table.write(batch([("a", "p", step, step), ("c", "q", step, step)]), "upsert", LOGS)
    _clean(table)


def _archive(table: HoodieTable) -> None:
    table.run(ARCHIVE, {**RETAIN_ONE, "hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3})


def _roll_back_last(table: HoodieTable) -> None:
    table.run(Rollback(table.timeline.commits[-1].time))


def _leave_failed_write(table: HoodieTable) -> None:
    """All files of a write are there, and its commit is not."""

    def die() -> dict[str, str]:
        raise Died("before the commit")

    with suppress(Died):
        table.write(CHANGED, "upsert", LOGS, hooks=WriteHooks(before_commit=die))


def _repair(table: HoodieTable) -> None:
    table.write(batch([]), "upsert", LOGS)


def _save(table: HoodieTable) -> None:
    if not table.savepoints():
        table.savepoint()


def _unsave(table: HoodieTable) -> None:
    for saved in table.savepoints():
        table.delete_savepoint(saved.instant)


def _save_and_change(table: HoodieTable) -> None:
    table.savepoint()
    table.write(batch([("a", "p", 3, 3), ("d", "r", 3, 3)]), "upsert", LOGS)
    table.write(batch([("c", "q", 5, 5)]), "delete", LOGS)


def _restore(table: HoodieTable) -> None:
    table.run(Restore(table.savepoints()[0].instant))


def _with_metadata_table(table: HoodieTable) -> None:
    """One that the next write switches off, as it would miss what that writes."""
    update_properties(table.storage, table.properties.with_values({"hoodie.table.metadata.partitions": "files"}))
    table.storage.create(".hoodie/metadata/files/stale", b"x")


def _create(table: HoodieTable, kind: str, version: str) -> None:
    if table.storage.info(".hoodie/hoodie.properties") is None:
        given = {**OPTIONS, "hoodie.table.type": kind, "hoodie.write.table.version": version}
        HoodieTable.create(table.storage, given, clock=table.clock, engine=table.engine)


def _plain_table(folder: Path) -> None:
    """The source of a bootstrap."""
    for part, names in (("p", ["a", "b"]), ("q", ["c"])):
        put(folder / _SOURCE, f"part={part}/0.parquet", names)


def _bootstrap(table: HoodieTable, kind: str, version: str) -> None:
    """Copy-on-write: skeletons beside the files that are there. Merge-on-read: all rows are written."""
    new = {**OPTIONS, "hoodie.table.type": kind, "hoodie.write.table.version": version}
    source = {
        **SMALL_BLOOM,
        "hoodie.bootstrap.base.path": str(Path(table.base_path).parent / _SOURCE),
        "hoodie.bootstrap.mode.selector.regex.mode": "METADATA_ONLY" if kind == COW else "FULL_RECORD",
    }
    run_bootstrap(BootstrapRequest(table.storage, new, source), table.clock, table.engine)


def _write_beside_others(table: HoodieTable) -> None:
    table.write(CHANGED, "upsert", {**LOGS, **BESIDE_OTHERS})


def _write_once_it_is_known_to_be_dead(table: HoodieTable) -> None:
    """Heartbeats have this machine's time, and an optimistic writer is dead when none has come for a while."""
    assert isinstance(table.clock, FakeClock)
    table.clock.time = table.clock.time.replace(year=2040)
    _write_beside_others(table)


def _actions(kind: str, version: str) -> list[Killed]:
    def of(name: str, act: Act, prepare: Act = _nothing, again: Act | None = None, hudi: str = "") -> Killed:
        return Killed(name, kind, version, prepare, act, act if again is None else again, hudi)

    virtual = {"hoodie.populate.meta.fields": "false"}
    found = [
        *(
            of(name, partial(_write, operation=name), again=partial(_rewrite, operation=name))
            for name in ("insert", "bulk_insert", "upsert", "delete")
        ),
        of("optimistic upsert", _write_beside_others, again=_write_once_it_is_known_to_be_dead),
        of("virtual keys", partial(_write, operation="upsert", more=virtual)),
        of("properties", partial(_write, operation="upsert"), _with_metadata_table),
        of("insert_overwrite", partial(_overwrite, operation="insert_overwrite")),
        of("insert_overwrite_table", partial(_overwrite, operation="insert_overwrite_table")),
        of("delete_partition", _drop_partition),
        of("global index", _move),
        of("clustering", _cluster, _two_files),
        of("clean", _clean, _updates, hudi="clean"),
        of("repair of a failed write", _repair, _leave_failed_write),
        of("rollback", _roll_back_last, partial(_write, operation="upsert"), _nothing),
        of("savepoint", _save),
        of("savepoint delete", _unsave, _save),
        of("restore", _restore, _save_and_change, hudi="restore"),
    ]
    if kind == COW:  # of the other, too, it is the timeline that is changed
        found.append(of("archive", _archive, _cleaned))
    if kind == MOR:
        found.append(of("compaction", _compact, _updates, hudi="compaction"))
        if version != "6":
            found.append(of("log compaction", _compact_logs, _updates, hudi="log compaction"))
    if version != "8":  # we create none
        found.append(of("create", partial(_create, kind=kind, version=version)))
        found.append(of("bootstrap", partial(_bootstrap, kind=kind, version=version)))
    return found


ACTIONS = {each.id: each for version in ("9", "8", "6") for kind in (COW, MOR) for each in _actions(kind, version)}
