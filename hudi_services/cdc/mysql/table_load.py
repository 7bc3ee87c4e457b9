"""A table of a server into a Hudi table: all its rows once, then the changes that its binlog has since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hoodie.clock import SystemClock
from hoodie.config.table_keys import RECORD_KEY_FIELDS
from hoodie.engine import Engine
from hoodie.errors import ConfigError, PendingInstantError, SourceError, TableNotFoundError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.model.internal_columns import DELETION
from hoodie.services.after_write import AfterWrite
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeColumns, change_rows
from hoodie.write.execute import WriteHooks
from hudi_services.cdc.credentials import credentials
from hudi_services.cdc.mysql.binlog.changes import Shape
from hudi_services.cdc.mysql.binlog.events import Event, Kind
from hudi_services.cdc.mysql.binlog.log import collation_charsets, end_of_log, events, file_created
from hudi_services.cdc.mysql.binlog.transactions import Changes, Statement, transactions
from hudi_services.cdc.mysql.connection import connected, is_mariadb
from hudi_services.cdc.mysql.definition import LoadedTable, names_table, stops_load
from hudi_services.cdc.mysql.facts import server_facts
from hudi_services.cdc.mysql.log_identity import KEY, StoredPosition, check_log, log_identity, stored_position
from hudi_services.cdc.mysql.position import LogPosition
from hudi_services.cdc.mysql.preflight import requirements
from hudi_services.cdc.mysql.snapshot import Snapshot, snapshot
from hudi_services.cdc.mysql.target import UniqueKey, check_key_values, key_of_target, unique_keys
from hudi_services.entry.server import DatabaseServer
from hudi_services.ingest.positions import find_position

if TYPE_CHECKING:
    from pymysql.connections import Connection

_ROWS, _BYTES = 500_000, 256 << 20  # changes in a commit
_CHANGES = ChangeColumns("op", ("number",))


@dataclass
class LoadResult:
    """Rows of the snapshot, changes of the binlog, commits, and the position after the last commit."""

    rows: int = 0
    changes: int = 0
    commits: int = 0
    position: str = ""


@dataclass
class TableLoad:
    """The load of the table `database`.`table` of the server `name` into the Hudi table at `base_path`."""

    name: str
    server: DatabaseServer
    environ: Mapping[str, str]
    database: str
    table: str
    base_path: str
    options: Mapping[str, object]
    engine: Engine
    ignore_cascades: bool = False
    result: LoadResult = field(default_factory=LoadResult)
    _unique: UniqueKey | None = None
    _files: dict[str, int] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return f"{self.name}/{self.database}.{self.table}"

    def run(self, *, start_fresh: bool = False) -> LoadResult:
        """Load up to the end of the log as it is when the run begins.

        Each commit holds the rows and the position after them, so a run that is killed goes on where it was. `start_fresh` takes
        all rows again, in place of those in the table. Raises HoodieError. Commits before the error stay.
        """
        with connected(self.name, self.server, self.environ) as control:
            self._check_server(control)
            end = end_of_log(control)
            stored = self._stored()
            if stored is None or start_fresh:
                stored = self._load_all(control, stored)
            check_log(control, stored, self._created)
            self._apply(control, stored, end)
        return self.result

    def _check_server(self, control: Connection[Any]) -> None:
        """Raise ConfigError where the log lacks changes of the table, or mixes them with old rows."""
        server = self.server.model_copy(update={"databases": (self.database,)})
        facts = server_facts(control, (self.database,), SystemClock(), self.table)
        user = credentials(self.server.connection, self.environ).user
        checked = list(requirements(server, user, facts))
        missing = [f"{each.name}: {each.found}" for each in checked if each.state == "missing"]
        for table in facts.tables:
            if table.versioned:
                missing.append("the table keeps old versions of its rows (WITH SYSTEM VERSIONING)")
            if table.cascades and not self.ignore_cascades:
                missing.append(
                    "foreign keys change its rows, which no log has: --ignore-cascades loads it all the same"
                )
        if missing:
            raise ConfigError(
                f"The table {self.source} cannot be followed",
                found="; ".join(missing),
                fix=f"`hudi-services cdc check {self.name}` lists the statements that fix it",
            )

    def _stored(self) -> StoredPosition | None:
        """Return the position of the table, None where nothing was loaded. Raises ConfigError for a table of other contents."""
        try:
            state = HoodieTable.open(self.base_path).state()
        except TableNotFoundError:
            return None
        found = find_position(state, KEY, start_fresh=False)
        if found is None:
            if state.timeline.commits:
                raise ConfigError(
                    f"Table {self.base_path} holds other rows than those of {self.source}",
                    found="commits, and none of them has a position in a binlog",
                    fix="name another path",
                )
            return None
        stored = stored_position(found.text, found.where)
        if stored.source != self.source:
            raise ConfigError(
                f"Table {self.base_path} is loaded from another source than {self.source}",
                found=stored.source,
                fix="name another path",
            )
        return stored

    def _load_all(self, control: Connection[Any], stored: StoredPosition | None) -> StoredPosition:
        """Write a snapshot in one commit, in place of what the table holds."""
        with snapshot(self.name, self.server, self.environ, self.database, self.table) as rows:
            target = self._target(rows)
            key = self._key(control, target)
            position = self._position(control, rows.position)
            counted = _Counted(key)
            target.write(
                pa.RecordBatchReader.from_batches(rows.table.schema, counted.of(rows.rows)),
                "bulk_insert" if stored is None else "insert_overwrite_table",
                self.options,
                extra_metadata={KEY: position.text},
                hooks=self._hooks(stored),
            )
        self.result.rows = counted.rows
        self._committed(position)
        return position

    def _target(self, rows: Snapshot) -> HoodieTable:
        with suppress(TableNotFoundError):
            return HoodieTable.open(self.base_path, engine=self.engine)
        key = ",".join(rows.table.key)
        if not key and RECORD_KEY_FIELDS.name not in self.options:
            raise ConfigError(
                f"The table {rows.table.full_name} has no key",
                found="neither a primary key nor a unique index without nulls",
                fix=f"name its columns: --hoodie-conf {RECORD_KEY_FIELDS.name}=…",
            )
        options = {RECORD_KEY_FIELDS.name: key, "hoodie.table.name": self.table, **self.options}
        return HoodieTable.create(self.base_path, options, engine=self.engine)

    def _key(self, control: Connection[Any], target: HoodieTable) -> UniqueKey | None:
        keys = unique_keys(control, self.database, self.table)
        return key_of_target(target.state().properties, keys, named=RECORD_KEY_FIELDS.name in self.options)

    def _apply(self, control: Connection[Any], stored: StoredPosition, end: LogPosition) -> None:
        self._unique = self._key(control, HoodieTable.open(self.base_path))
        mariadb, charsets = is_mariadb(control), collation_charsets(control)
        held: list[pa.Table] = []
        shape: Shape | None = None
        place = stored.place
        with connected(self.name, self.server, self.environ) as connection:
            log = self._noted(events(connection, self.server.server_id, place, wait=False))
            try:
                for part in transactions(log, charsets, self._is_wanted, mariadb=mariadb):
                    about = (
                        part if isinstance(part, Statement) and names_table(part, self.database, self.table) else None
                    )
                    changed = isinstance(part, Changes) and shape is not None and part.shape != shape
                    if held and (about or changed or _is_enough(held)):
                        stored = self._commit(control, stored, held, place)
                        held = []
                    if about is not None and self._stops(about):
                        raise self._stopped(about)
                    if isinstance(part, Changes):
                        held.append(part.changes)
                        shape, place = part.shape, part.position
                    if part.position >= end:
                        break
            except ValueError as error:
                raise SourceError(
                    f"The changes of {self.source} after {place} cannot be read",
                    found=str(error),
                    fix=f"run `hudi-services cdc check {self.name}`, then load again with --start-fresh",
                ) from error
        if held:
            self._commit(control, stored, held, place)

    def _noted(self, log: Iterator[tuple[LogPosition, Event]]) -> Iterator[tuple[LogPosition, Event]]:
        """The events. When their files began is noted: a second connection that asks would end this one."""
        for position, event in log:
            if event.kind is Kind.FORMAT_DESCRIPTION:
                self._files[position.file] = event.seconds
            yield position, event

    def _created(self, file: str) -> int:
        if file not in self._files:
            with connected(self.name, self.server, self.environ) as connection:
                self._files[file] = file_created(connection, self.server.server_id, file)
        return self._files[file]

    def _is_wanted(self, database: str, table: str) -> bool:
        return (database, table) == (self.database, self.table)

    def _stops(self, statement: Statement) -> bool:
        schema = HoodieTable.open(self.base_path).stored_schema
        columns = tuple(schema.names) if schema is not None else ()
        by_index = self._unique is not None and not self._unique.is_primary
        table = LoadedTable(self.database, self.table, columns, by_index, self.ignore_cascades)
        return stops_load(statement, table)

    def _stopped(self, statement: Statement) -> SourceError:
        return SourceError(
            f"A statement may have changed rows of {self.source} without logging them",
            found=f"{statement.text[:200]!r} before {statement.position}. Changes before it are in the table",
            fix="load the table as it is now with --start-fresh",
        )

    def _commit(
        self, control: Connection[Any], stored: StoredPosition, held: list[pa.Table], place: LogPosition
    ) -> StoredPosition:
        position = self._position(control, place)
        changes = pa.concat_tables(held)
        for image in (BEFORE, AFTER):
            check_key_values(changes[image], self._unique)
        table = HoodieTable.open(self.base_path, engine=self.engine)
        rows = change_rows(table.state(), changes.schema, _CHANGES, AfterWrite.of(self.options).options)(changes)
        table.write(
            rows,
            "upsert",
            self.options,
            deletions=DELETION,
            extra_metadata={KEY: position.text},
            hooks=self._hooks(stored),
        )
        self.result.changes += changes.num_rows
        self._committed(position)
        return position

    def _committed(self, position: StoredPosition) -> None:
        self.result.commits += 1
        self.result.position = position.position

    def _position(self, control: Connection[Any], place: LogPosition) -> StoredPosition:
        identity = log_identity(control, place, self._created)
        if identity is None:
            raise SourceError(
                f"The binlog of {self.source} no longer has the position {place}",
                fix="keep logs longer: `hudi-services cdc check` shows how long. Then load again with --start-fresh",
            )
        return StoredPosition(self.source, str(place), identity)

    def _hooks(self, stored: StoredPosition | None) -> WriteHooks:
        def check(state: TableState) -> None:
            found = find_position(state, KEY, start_fresh=False)
            now = stored_position(found.text, found.where) if found is not None else None
            if now != stored:
                raise PendingInstantError(
                    f"Another load committed to {self.base_path} in the meantime",
                    fix="run again. It goes on after that one",
                )

        return WriteHooks(on_begin=check, on_others=check)


def _is_enough(held: list[pa.Table]) -> bool:
    """Return True for as many changes as a commit takes."""
    return bool(sum(some.num_rows for some in held) >= _ROWS or sum(some.nbytes for some in held) >= _BYTES)


@dataclass
class _Counted:
    key: UniqueKey | None
    rows: int = 0

    def of(self, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            check_key_values(batch.to_struct_array(), self.key)
            self.rows += batch.num_rows
            yield batch
