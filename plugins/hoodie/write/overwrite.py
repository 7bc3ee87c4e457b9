"""File groups that an overwrite, or a drop of partitions, takes out of a table: whole ones, which a clean deletes later.

A replacecommit lists them, with the files that take their place (format notes, section 2.6; decision 48).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hoodie.config.keys.write import EMPTY_OVERWRITE
from hoodie.config.operations import Operation, Replaces
from hoodie.errors import DataError, PendingInstantError
from hoodie.model.files import GroupId
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.clustering import encode_replace_request
from hoodie.transaction.transaction import Transaction
from hoodie.view import PendingGroups, TableState, TableView
from hoodie.view.missing_files import absent_files


@dataclass(frozen=True)
class Replaced:
    """The file groups of whole partitions: those that are there, and those whose files are lost. `whole_table`: of all."""

    groups: Mapping[str, tuple[str, ...]]  # partition -> file ids; none of one that is new, or was emptied before
    whole_table: bool = False

    @staticmethod
    def of(state: TableState, partitions: Sequence[str] | None) -> Replaced:
        """The groups of these partitions; None: of the whole table. Raises CorruptTableError."""
        view = TableView(state, partitions)
        missing_groups = (file.group for file in absent_files(state, view.slices, partitions))
        result: dict[str, set[str]] = {file_group.partition: set() for file_group in view.files}
        for group in (*(file_slice.group for file_slice in view.slices), *missing_groups):
            result.setdefault(group.partition, set()).add(group.file_id)
        return Replaced({name: tuple(sorted(ids)) for name, ids in sorted(result.items())}, partitions is None)

    def __contains__(self, partition: object) -> bool:
        return self.whole_table or partition in self.groups

    @property
    def file_groups(self) -> frozenset[GroupId]:
        return frozenset(GroupId(partition, file_id) for partition, ids in self.groups.items() for file_id in ids)


NOTHING = Replaced({})


def open_replacing(tx: Transaction, operation: Operation) -> Instant:
    """Begin the instant of an operation that replaces, as Hudi does: its request has no plan, so that it is not taken for a
    clustering, and from then on its pending file names the operation."""
    name = operation.name.upper()
    return tx.open(Action.REPLACE_COMMIT, encode_replace_request(None if operation.writes else name), name)


def refuse_waiting(state: TableState, operation: Operation, replaced: Replaced) -> None:
    """Before anything is written. Raises PendingInstantError when a clustering waits for a file group that is to be `replaced`:
    its rows would come back. A drop of partitions does not go past compactions either, as in Hudi."""
    busy, groups = PendingGroups(state), replaced.file_groups
    kinds: list[tuple[str, Mapping[GroupId, Instant]]] = [("clustering", busy.clustering)]
    if not operation.writes:
        kinds += [("compaction", busy.compacting), ("log compaction", busy.log_compacting)]
    for kind, planned in kinds:
        group = min(groups.intersection(planned), default=None)
        if group is None:
            continue
        run = f"run `hudi-services {'cluster' if kind == 'clustering' else 'compact'}`"
        raise PendingInstantError(
            f"A {kind} of partition {group.partition!r} of table {state.storage.base_path} waits",
            found=f"pending {state.where(planned[group])}, which names file group {group.file_id}",
            fix=f"nothing was changed; {run}, then try again",
        )


def refuse_empty(state: TableState, operation: Operation, *, allowed: bool) -> None:
    """Check an overwrite that got no row. Raises DataError if it would empty the whole table, unless that is `allowed`."""
    if operation.replaces is Replaces.TABLE and not allowed:
        raise DataError(
            f"An overwrite of table {state.storage.base_path} got no row",
            found="an input without rows, or one whose rows are all marked as deleted",
            fix="nothing was changed; if the table is to be empty, use HoodieTable.truncate, or set "
            f"{EMPTY_OVERWRITE.name}=true",
        )
