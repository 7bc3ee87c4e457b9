"""Random histories of a table, and a dict that knows what each of them leaves."""

from __future__ import annotations

import random
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

import pytest

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.config.properties.store import update_properties
from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.services.service import execute_waiting, pending_plans
from hoodie.table import WriteHooks
from hoodie.timeline import WRITE_ACTIONS, Action
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create

KEYS = tuple(f"k{i}" for i in range(8))
PARTS = {key: "pqr"[number % 3] for number, key in enumerate(KEYS)}
ACTIONS = ("upsert", "upsert", "delete", "clean", "schedule", "compact")
REPLACING = ("insert_overwrite", "insert_overwrite_table", "delete_partition")
MERGE_LOGS = "schedule logs"  # a log compaction, which changes nothing that can be read, now or of the past
MERGES = (COMPACTION, LOG_COMPACTION)
CASES = [
    (kind, version, f"{mode}_TIME_ORDERING")
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    for version in ("6", "8", "9")
    for mode in ("EVENT", "COMMIT")
]
AT_COMMIT = 0
VIRTUAL_KEYS = {"hoodie.populate.meta.fields": "false"}


@dataclass(frozen=True)
class Step:
    """One of `ACTIONS` or `REPLACING`, or `MERGE_LOGS`; a write has rows of (key, ts, value).

    With `dies` its process is killed: at that call of the storage, or `AT_COMMIT`: a write whose files are all there.
    """

    action: str
    rows: tuple = ()
    dies: int | None = None


FIRST = Step("upsert", tuple((key, 3, number) for number, key in enumerate(KEYS[:4])))  # one partition has two keys


def random_steps(seed: int, count: int, actions=ACTIONS) -> list[Step]:
    """The same steps for the same seed. A write dies only before it is committed: on every engine the same steps count."""
    dice = random.Random(seed)
    steps = [FIRST]
    for _ in range(count - 1):
        action = dice.choice(actions)
        writes = action in ("upsert", "delete", *REPLACING)
        rows = ((dice.choice(KEYS), dice.randrange(6), dice.randrange(100)) for _ in range(dice.randint(1, 5)))
        steps.append(Step(action, tuple(rows), AT_COMMIT if writes and dice.random() < 0.2 else None))
    return steps


@dataclass
class Model:
    """Hudi's rules, applied to a history (proven against Hudi itself by tests/interop).

    A copy-on-write table uses only `base`. In a merge-on-read table `logs` holds the entries of each key since its base row was
    written, (ordering, value) or None for a deletion. Their sum is compared with the base row as if nothing had been deleted in
    between. The test gives the model the file groups into which a write put new keys, or which it rewrote for them.
    """

    event_time: bool
    version: str
    logged: bool
    base: dict = field(default_factory=dict)
    logs: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)  # key -> file group
    plans: dict = field(default_factory=dict)  # instant of a waiting compaction -> key -> entries it takes

    def write(self, operation, rows, rewritten=frozenset()):
        if operation in REPLACING:
            self._forget(PARTS.values() if operation.endswith("_table") else {PARTS[row[0]] for row in rows})
        best = {}
        for key, ts, value in rows:
            by_ordering = self.event_time or self.version == "6"
            if key not in best or not by_ordering or ts >= best[key][0]:
                best[key] = (ts, value)
        for key, row in best.items():
            self._apply(key, None if operation.startswith("delete") else row, rewritten)

    def waits_for(self, rows):
        """Says whether a compaction waits for a partition of these rows."""
        waiting = {PARTS[key] for plan in self.plans.values() for key in plan}
        return not waiting.isdisjoint(PARTS[row[0]] for row in rows)

    def _forget(self, parts):
        for known in (self.base, self.logs, self.groups, *self.plans.values()):
            for key in [key for key in known if PARTS[key] in parts]:
                del known[key]

    def _apply(self, key, row, rewritten):
        if self.logged and key in self.base and self.groups[key] not in rewritten:
            self.logs.setdefault(key, []).append(row)
        elif row is None:
            self.base.pop(key, None)
        elif key not in self.base or not self.event_time or row[0] >= self.base[key][0]:
            self.base[key] = row

    def plan(self):
        """Keys of a compaction's plan now: of the groups that have logs and are in no plan."""
        taken = {self.groups[key] for plan in self.plans.values() for key in plan}
        return {key: len(entries) for key, entries in self.logs.items() if entries and self.groups[key] not in taken}

    def compact(self, time):
        for key, count in self.plans.pop(time).items():
            row = self._merged(key, self.logs[key][:count])
            self.logs[key] = self.logs[key][count:]
            if row is None and not self.logs[key]:
                del self.base[key]
            else:  # None: entries that came after the plan are all that is left of the key
                self.base[key] = row

    def _folded(self, entries):
        known = None
        by_ordering = self.event_time or self.version == "6"  # Hudi 0.x orders the rows of logs in every mode
        for row in entries:
            if row is None or known is None or not by_ordering or row[0] >= known[0]:
                known = row
        return known

    def _merged(self, key, entries):
        row, stored = self._folded(entries), self.base[key]
        if not entries or (stored and row and self.event_time and row[0] < stored[0]):
            return stored
        return row

    def content(self):
        """id -> (part, ts, value)"""
        rows = {key: self._merged(key, self.logs.get(key, [])) for key in self.base}
        return {key: (PARTS[key], *row) for key, row in rows.items() if row is not None}


class History:
    """A table at `path`, its model, and what every instant that can still be read as of must give (`past`)."""

    def __init__(self, path, kind, version, mode, engine=None, small_file_limit=0, clock=None, virtual=None, cdc=None):
        """`virtual`: keys are so from the "start", or from a "later" write on. `cdc`: how changes are logged."""
        self.switch = VIRTUAL_KEYS if virtual == "later" else {}
        options = {"hoodie.table.type": kind, "hoodie.record.merge.mode": mode}
        options |= VIRTUAL_KEYS if virtual == "start" else {}
        if cdc is not None:
            options |= {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": cdc}
        options["hoodie.write.table.version"] = "6" if version == "6" else "9"
        self.table = create(path, clock or FakeClock(), engine, **options)
        if version == "8":
            make_version_8(self.table)
        self.options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": small_file_limit}
        self.options |= {"hoodie.combine.before.insert": "true", "hoodie.datasource.overwrite.allow.empty": "true"}
        self.model = Model(mode.startswith("EVENT"), version, kind == "MERGE_ON_READ")
        self.past = {}

    def run(self, step: Step) -> None:
        """Do it, and make the model follow what became visible of it. A service that the table has no use for is left out."""
        if step.action in ("schedule", "compact", MERGE_LOGS) and not self.model.logged:
            return
        if step.action == MERGE_LOGS and self.model.version == "6":
            return
        before = {(instant.time, instant.state) for instant in self.table.timeline}
        if step.dies is None:
            self._act(self.table, step)
        elif step.dies == AT_COMMIT:
            with suppress(Killed):
                self._act(self.table, step, WriteHooks(before_commit=_die))
        else:
            dying = FaultyStorage(self.table.base_path, step.dies)
            with suppress(Killed):
                self._act(HoodieTable(dying, LocalEngine(1), self.table.clock), step)
        timeline = self.table.timeline
        new = [instant for instant in timeline if (instant.time, instant.state) not in before]
        wanted = self.model.plan() if step.action == "schedule" else {}
        for instant in new:
            if not instant.is_completed:
                if instant.action is Action.COMPACTION and instant.time not in self.model.plans:
                    self.model.plans[instant.time] = wanted
            elif instant.action is Action.COMMIT and self.model.logged:
                self.model.compact(instant.time)
                # Entries after the plan are now compared with the new base file, also by a reader of the past.
                self.past = {time: state for time, state in self.past.items() if time < instant.time}
            elif instant.action in WRITE_ACTIONS:
                self._written(step, instant)
        if step.dies is None:
            assert step.action != "schedule" or bool(wanted) == any(i.action is Action.COMPACTION for i in new)
            assert step.action != "compact" or not self.model.plans
        if step.action == "clean":  # also one that died: it may have deleted
            retained = [instant.time for instant in timeline.commits][-2:]
            self.past = {time: state for time, state in self.past.items() if time in retained}

    def _act(self, table, step, hooks=None):
        if step.action == "schedule":
            table.schedule(COMPACTION, force=True)
        elif step.action == MERGE_LOGS:
            table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
        elif step.action == "compact":
            plans = pending_plans(table.state(), *MERGES)
            execute_waiting(table.access, plans, MERGES, SMALL_BLOOM)
        elif step.action == "clean":
            table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
        else:
            data = batch([(key, PARTS[key], ts, value) for key, ts, value in step.rows])
            refused = step.action == "delete_partition" and self.model.waits_for(step.rows)
            with pytest.raises(PendingInstantError) if refused else nullcontext():
                table.write(data, step.action, self.options | ({} if step is FIRST else self.switch), hooks=hooks)

    def _written(self, step, instant):
        metadata = self.table.state().commit_metadata(instant)
        if metadata.operation == "LOG_COMPACT":
            self.past[instant.time] = content(self.table, as_of=instant.time)
            return
        self.model.write(step.action, step.rows, {stat.file_id for stat in metadata.stats if stat.log is None})
        for file_slice in self.table.file_slices():
            with open_base_file(self.table.storage, file_slice.base_file) as reader:
                for rows in reader.batches(["id"]):
                    for key in rows["id"].to_pylist():
                        self.model.groups.setdefault(key, file_slice.file_id)
        for key in [key for key in self.model.groups if key not in self.model.base]:
            del self.model.groups[key]
        self.past[instant.time] = self.model.content()

    def check(self) -> None:
        assert content(self.table) == self.model.content()
        assert content(self.table, options={"hoodie.merge.use.record.positions": "false"}) == self.model.content()

    def check_past(self) -> None:
        for time, state in self.past.items():
            assert content(self.table, as_of=time) == state, time


def _die():
    raise Killed("before the commit")


def make_version_8(table: HoodieTable) -> None:
    """An empty table of version 9 as Hudi 1.0 would have made it; we create none."""
    event = table.properties.raw["hoodie.record.merge.mode"] == "EVENT_TIME_ORDERING"
    payload = "DefaultHoodieRecordPayload" if event else "OverwriteWithLatestAvroPayload"
    strategy = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5" if event else "ce9acb64-bde0-424c-9b91-f6ebba25356d"
    values = {
        "hoodie.table.version": "8",
        "hoodie.table.initial.version": "8",
        "hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{payload}",
        "hoodie.record.merge.strategy.id": strategy,
    }
    update_properties(table.storage, table.properties.with_values(values))
