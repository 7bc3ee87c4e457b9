"""The rule by which a load is refused whose key is very likely a wrong column, as most of its rows would be lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.errors import RecordKeyError
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.expectations.key_loss import KeyLoss, UniqueColumns, key_loss, unique_in_sample
from hudi_services.sources.ingest.expectations.results import DIFFERENT_KEYS, CheckResult
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.source import Source

_FEWEST = 10  # rows that are lost: fewer may be changes of one row in a small file


@dataclass(frozen=True)
class KeyCheck:
    """The check of the keys of a load. `first`: its table has no rows yet."""

    source: Source
    splits: Sequence[CheckedSplit]
    plan: WritePlan
    engine: Engine
    first: bool

    @property
    def _applies(self) -> bool:
        """True if the write keeps one row of each key, and no user has said that rows are versions. Topics are: they have an
        order."""
        plan, source = self.plan, self.source
        return (
            isinstance(source, FilesSource)
            and source.feed.repeated_keys == "check"
            and plan.combines
            and not plan.operation.deletes
            and plan.rules.partial is None
            and bool(plan.properties.record_key_fields)
        )

    def after_write(self, combined: int, rows: int) -> CheckResult | None:
        """The failed check if most of the `rows` were dropped for others of their key, of which the write dropped `combined`,
        identical ones included. Raises RecordKeyError where the key is wrong."""
        return self.look() if _is_most(combined, rows) else None

    def look(self) -> CheckResult | None:
        """Count the rows of each key: the failed check, None where no different rows are lost, or few, or where the check does
        not apply. Raises RecordKeyError where the key is wrong."""
        if not self._applies:
            return None
        loss = key_loss(self.splits, self.plan, self.engine)
        if not _is_most(loss.rows - loss.keys, loss.rows):
            return None
        unique = unique_in_sample(self.splits, self.plan.rules.ordering)
        if self._is_wrong(loss, unique):
            raise RecordKeyError(
                f"{self._counts(loss)}: most rows of {self.source.name} would be lost",
                found=f"{self._why(loss)}; {_unique_text(unique)}",
                fix=self._fix(unique),
            )
        accept = "say source.repeated_keys: accept in the registry if they are versions of a record"
        return CheckResult(DIFFERENT_KEYS, False, f"{self._counts(loss)}; {_unique_text(unique)}; {accept}")

    def _is_wrong(self, loss: KeyLoss, unique: UniqueColumns) -> bool:
        """True if no ordering value says which of most rows is newer. A first load also has a wrong key if its rows have another
        one that identifies them beyond doubt."""
        if _is_most(loss.rows_in_files - loss.versions_in_files, loss.rows_in_files):
            return True
        return (
            self.first
            and _is_most(loss.rows_in_files - loss.keys_in_files, loss.rows_in_files)
            and bool(unique.key)
            and not set(self.plan.properties.record_key_fields) <= set(unique.key)
            and not set(self.plan.rules.ordering) & set(unique.key)
        )

    def _counts(self, loss: KeyLoss) -> str:
        properties = self.plan.properties
        fields = ", ".join(properties.record_key_fields)
        where = f" and partition {', '.join(properties.partition_fields)}" if self._by_partition else ""
        return f"{loss.rows:,} different rows have {loss.keys:,} value{'' if loss.keys == 1 else 's'} of the key {fields}{where}"

    @property
    def _by_partition(self) -> bool:
        return bool(self.plan.properties.partition_fields) and not self.plan.global_keys

    def _why(self, loss: KeyLoss) -> str:
        ordering = ", ".join(self.plan.rules.ordering)
        lost = f"{loss.rows - loss.keys:,} rows would be dropped"
        if not ordering:
            return f"{lost}, and no ordering column says which row is newer"
        if _is_most(loss.rows_in_files - loss.versions_in_files, loss.rows_in_files):
            return f"{lost}, and most rows of a key have the same {ordering}"
        return f"{lost}, though another column identifies a row"

    def _fix(self, unique: UniqueColumns) -> str:
        key = f"[{', '.join(unique.key or unique.names[:1] or ('…',))}]"
        name = self.plan.properties.name
        correct = f"set keys.record_key: {key} in the entry {name} of the registry"
        if not self.first:
            correct = f"load into a new table with keys.record_key: {key}, as the key of a table cannot change"
        return f"{correct}; or, if they are versions of a record, source.repeated_keys: accept. Nothing was loaded"


def _is_most(lost: int, rows: int) -> bool:
    return lost >= _FEWEST and 2 * lost > rows


def _unique_text(unique: UniqueColumns) -> str:
    names = unique.names or unique.key
    return f"unique: {', '.join(names)}" if names else "no column is unique"
