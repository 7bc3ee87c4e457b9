"""The changes of one table of the log, on their way into its Hudi table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hoodie.errors import HoodieError, SourceError, SourceUnavailableError
from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.mysql.binlog.changes import Shape
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement
from hudi_services.sources.cdc.mysql.definition import Effect, LoadedTable, effect_on
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_key_values
from hudi_services.sources.cdc.mysql.target_batch import TargetBatch
from hudi_services.sources.cdc.mysql.widening import stored_columns

_FLAGS: Mapping[Effect, str] = {
    "truncate": "--on-truncate",
    "drop": "--on-drop",
    "rename": "--on-rename",
    "alter": "--on-alter",
}


@dataclass
class Route:
    """Changes of `source` on their way into `batch`, with those of the other sources of its Hudi table.

    The table has all up to `since`. `keys` asks the server for the keys of the source, None where it has no such table.
    `is_stale`: all rows have to be read again before changes follow.
    """

    source: TableSource
    batch: TargetBatch
    since: LogPosition
    keys: Callable[[], tuple[UniqueKey, ...] | None]
    result: LoadResult = field(default_factory=LoadResult)
    is_stale: bool = False
    charsets: Mapping[int, str] = field(default_factory=dict)
    """Names of character sets by the server's numbers of collations."""
    _declared: Shape | None = None
    """The columns of its last rows, if no statement about the table came since."""
    _shape: Shape | None = None
    _columns: set[str] = field(default_factory=set)
    """Names of all columns that its changes had."""
    _key: UniqueKey | None = None
    _key_asked_at: int = -1

    def __post_init__(self) -> None:
        self.batch.join(self)

    @property
    def name(self) -> tuple[str, str]:
        """Database and table."""
        return self.source.database, self.source.name

    def take(self, changes: Changes) -> None:
        """Hold changes. A commit has whole transactions, and of a table with one source changes of one shape.

        Raises HoodieError where the Hudi table cannot take them.
        """
        self._declared = changes.shape
        self.batch.begin(changes.end)
        if changes.position <= self.since:
            self.batch.pass_by(self, changes)  # another table is behind, so the log is read from before
            return
        is_other = self._shape not in (None, changes.shape)
        if is_other:
            self._key_asked_at = -1  # the table may be another one by now
        # Changes of several sources have several shapes anyway: a commit joins their columns.
        is_due = self.batch.is_full or (is_other and not self.batch.target.is_merged)
        if is_due and not self.batch.is_within(changes.end):
            self.batch.commit()
        self.batch.give_up(self)
        self.batch.reach(changes.end)
        try:
            if changes.shape != self._shape:
                self.batch.check_text(changes.shape.schema)
            key = self._checked_key()
            for image in (BEFORE, AFTER):
                check_key_values(changes.changes[image], key)
            self.batch.take(self, changes)
        except HoodieError:
            self.batch.drop(self, changes.end)
            raise
        self._shape = changes.shape
        self._columns |= {column.name for column in changes.shape.columns}

    def obey(self, statement: Statement) -> None:
        """Do what the policy of its kind says at a statement about the table.

        Raises SourceError where rows may not be those of the server after it, and the policy is to stop.
        """
        declared, self._declared = self._declared, None
        if statement.position <= self.since:
            return
        self.batch.begin(statement.position)
        try:
            effect = self._effect(statement, declared)
            if effect is not None:
                if not self.batch.target.is_merged:
                    self.batch.commit()
                self._apply(effect, statement)
        except HoodieError:
            self.batch.stop_before(self, statement.position)
            raise
        if self.is_stale:
            self.batch.stop_before(self, statement.position)

    def _effect(self, statement: Statement, declared: Shape | None) -> Effect | None:
        schema = self.batch.columns()
        stored = stored_columns(schema, declared.columns if declared is not None else (), self.charsets)

        def effect(columns: tuple[str, ...], *, by_index: bool) -> Effect | None:
            source = self.source
            table = LoadedTable(source.database, source.name, columns, by_index, source.ignore_cascades, stored)
            return effect_on(statement, table)

        if effect(tuple(schema.names), by_index=True) is None:
            return None
        self._key_asked_at = -1  # the table may be another one by now
        key = self._checked_key()
        by_index = key is not None and not key.is_primary
        doubtful = [name for name in schema.names if effect((name,), by_index=by_index) is not None]
        if effect((), by_index=by_index) is not None or not doubtful:
            return effect(tuple(schema.names), by_index=by_index)
        filled = self._columns | self.batch.filled(self.source, doubtful)
        return effect(tuple(name for name in doubtful if name in filled), by_index=by_index)

    def _apply(self, effect: Effect, statement: Statement) -> None:
        source = self.source
        policy = getattr(source.statements, effect)
        cause = f"{statement.text[:200]!r} before {statement.position}. Changes before it are in the table"
        if policy == "stop":
            raise SourceError(
                f"A statement may have changed rows of {source.source} without logging them",
                found=cause,
                fix=f"load the table as it is now with --start-fresh, or choose what a load does there by {_FLAGS[effect]} "
                f"(in the registry, the table's source.statements.{effect})",
            )
        if policy == "ignore":
            return
        if effect == "truncate":
            self._empty(statement.position)
        elif self.keys() is not None or (effect != "drop" and source.statements.drop == "apply"):
            self.is_stale = True
        elif effect == "drop":
            self._empty(statement.position)
        else:
            raise SourceUnavailableError(
                f"The rows of {source.source} cannot be read again: the server has no such table now",
                found=cause,
                fix="run again when the table is there. Its rows are then read again",
            )

    def _empty(self, place: LogPosition) -> None:
        """Take all rows of the source out of the Hudi table."""
        if self.batch.target.is_merged:
            self.batch.empty(self, place)
        else:
            self.batch.empty_all(place)

    def refuse(self, part: Unreadable) -> None:
        """Forget the changes of a transaction that cannot be read, and raise SourceError."""
        self.batch.begin(part.position)
        if part.position <= self.since:
            self.batch.pass_by(self, part)
            return
        self.batch.reach(part.position)
        self.batch.drop(self, part.position)
        raise SourceError(
            f"The changes of {self.source.source} before {part.position} cannot be read",
            found=f"{part.reason}. Changes before them are in the table",
            fix=f"run `hudi-services cdc check {self.source.server}`, then load again with --start-fresh",
        )

    def _checked_key(self) -> UniqueKey | None:
        """The key that makes record keys differ. It is asked again after each commit: the table may be another one by now."""
        if self._key_asked_at != self.batch.count:
            self._key = self.batch.key(self.keys())
            self._key_asked_at = self.batch.count
        return self._key
