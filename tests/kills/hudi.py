"""Apache Hudi carries on after a kill: one write, and what its user would ask it to finish, in one session for many tables."""

from __future__ import annotations

from collections.abc import Sequence

from hoodie import HoodieTable
from tests.interop.peer import HudiPeer, PeerError
from tests.kills.actions import Killed
from tests.kills.process import KillPoint
from tests.kills.recovery import NEXT, Kills, Rows, nothing_left
from tests.support.tables import content

_PASSED_OVER = (
    ".hoodie/lock",
    ".hoodie/hoodie.properties.backup",
    "savepoint",
)  # by Hudi: our next writer removes them
_GIVEN_UP = "log compaction plans are mutable plans"  # so Hudi deletes one that was begun, and asks to be called again
_RESTORED = (
    "__rollback__INFLIGHT]"  # "Could not delete instant": a rollback's, requested and not begun, after the restore
)
_AS_IT_IS = {
    "hoodie.metadata.enable": "false",
    "hoodie.write.auto.upgrade": "false",
}  # else a procedure upgrades the table first
_MORE = {
    "compaction": {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    "log compaction": {
        "hoodie.log.compaction.enable": "true",
        "hoodie.log.compaction.inline": "true",
        "hoodie.log.compaction.blocks.threshold": "2",
        "hoodie.cleaner.policy.failed.writes": "LAZY",  # without it no new clean begins while there is a later commit
    },
}


def hudi_can(action: Killed) -> bool:
    """Says whether Hudi is tried: not without a table, nor after an optimistic upsert, whose heartbeat it leaves."""
    return action.name not in ("create", "bootstrap", "optimistic upsert", "clustering")


_ALSO_SAMPLED = ("upsert-MERGE_ON_READ-6", "compaction-MERGE_ON_READ-8", "restore-MERGE_ON_READ-6")


def hudi_is_sampled(action: Killed) -> bool:
    """Says whether `make test-deep` asks Hudi: for all actions of version 9, and for some of those before."""
    return hudi_can(action) and (action.version == "9" or action.id in _ALSO_SAMPLED)


def hudi_carries_on(kills: Kills, points: Sequence[KillPoint], hudi: HudiPeer) -> None:
    """Raises AssertionError for a wrong row, a data file of no commit, or anything pending; PeerError when Hudi cannot."""
    action = kills.action
    for point, table in kills.damaged(points):
        if action.hudi == "restore":
            _restore(hudi, table, action.version)
        _write(hudi, action, table)
        if action.hudi == "clean":
            hudi.clean(table.base_path, **{"hoodie.clean.commits.retained": "2"})
        rows = _read(hudi, table)
        assert rows == content(table), f"Hudi reads other rows than we {point}"
        assert rows.pop("z") == ("p", 9, 9), point
        assert rows in (kills.before, kills.after), point
        passed_over = (*_PASSED_OVER, *(f".hoodie/.temp/{commit.time}/" for commit in table.timeline.commits))
        left = [each for each in nothing_left(table, temporary=False) if not each.startswith(passed_over)]
        assert left == [], f"Hudi leaves {left} {point}"


def _write(hudi: HudiPeer, action: Killed, table: HoodieTable) -> None:
    try:
        hudi.write(table.base_path, NEXT, _options(action, table))
    except PeerError as error:
        if _GIVEN_UP not in str(error):
            raise
        hudi.write(table.base_path, NEXT, _options(action, table))


def _restore(hudi: HudiPeer, table: HoodieTable, version: str) -> None:
    """The same restore again. If a rollback of it was requested and not begun, Hudi ends it and fails when it tidies up, even for
    its own restores (`tests/interop/test_savepoints.py`). Its next write carries out that rollback, which finds nothing.
    """
    saved = table.savepoints()[0].instant
    name = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    options = {**_AS_IT_IS, "hoodie.write.table.version": version}
    for option, value in options.items():
        hudi.sql(f"set {option}={value}")
    try:
        hudi.sql(f"create table if not exists {name} using hudi location '{table.base_path}'")
        hudi.sql(f"call rollback_to_savepoint(table => '{name}', instant_time => '{saved}')")
    except PeerError as error:
        if _RESTORED not in str(error):
            raise
    finally:
        for option in options:
            hudi.sql(f"reset {option}")


def _options(action: Killed, table: HoodieTable) -> dict[str, str]:
    keep = "true" if table.properties.raw.get("hoodie.populate.meta.fields") != "false" else "false"
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": action.kind,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.populate.meta.fields": keep,
        "hoodie.write.table.version": action.version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.archive.automatic": "false",
        **_MORE.get(action.hudi, {}),
    }


def _read(hudi: HudiPeer, table: HoodieTable) -> Rows:
    found = hudi.read(table.base_path, **{"hoodie.metadata.enable": "false"}).to_pylist()
    rows = {row["id"]: (row["part"], row["ts"], row["value"]) for row in found}
    assert len(rows) == len(found), "a key stands more than once"
    return rows
