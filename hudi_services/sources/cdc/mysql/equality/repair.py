"""The commit that makes a Hudi table equal to its source, by what a comparison found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.view import TableState
from hudi_services.sources.cdc.mysql.equality.comparison import ComparedRows
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.row_difference import changes_schema
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.target import UniqueKey
from hudi_services.sources.cdc.mysql.target_table import TargetTable


class PartlyRepairedError(PendingInstantError):
    """Copies of rows are deleted, and the rows are not written again."""


def write_differences(
    target: TargetTable,
    compared: ComparedRows,
    report: EqualityReport,
    state: TableState,
    key: UniqueKey | None,
    before: StoredPosition,
    after: StoredPosition,
) -> None:
    """Write what differs from `state` in one commit. Rows that the lake had more than once are inserted in a second one.

    Raises PendingInstantError where others changed rows after `state`: then nothing is written, or what the error says.
    """
    if report.copied and state.properties.is_merge_on_read:
        raise CorruptTableError(
            f"Table {target.base_path} holds keys more than once, which no repair takes out of a merge-on-read table",
            found=f"{report.copied:,} rows of such keys. Nothing was repaired",
            fix=f"load all rows again: `{_reload(target)}`",
        )
    schema = changes_schema(compared.server.schema)
    of_lake = compared.of_lake
    unique = None if of_lake else key  # hashes are not the values of the server's key

    def changes() -> Iterator[pa.Table]:
        return report.counted(difference.changes() for difference in compared.differences())

    def restored() -> Iterator[pa.Table]:
        return report.counted(difference.restored() for difference in compared.differences())

    between = before if report.copied else after
    known = frozenset(str(commit.time) for commit in state.timeline.commits)
    write = partial(target.write_parts, of_lake=of_lake, has_owners=True)
    report.instant = write(changes, schema, unique, before, between, known=known)
    if report.copied:
        known |= {report.instant}
        try:
            report.instant = write(restored, schema, unique, between, after, known=known)
        except PendingInstantError as error:
            raise PartlyRepairedError(
                f"Table {target.base_path} lacks the rows of keys that it held more than once",
                found=f"{report.copied:,} copies were deleted. {error.what}, before their rows were written again",
                fix="run again: the repair writes the rows that are missing",
            ) from error


def write_place(
    target: TargetTable, columns: pa.Schema, state: TableState, before: StoredPosition, after: StoredPosition
) -> str:
    """Write the position of a table whose rows are right, and return the instant. Raises PendingInstantError, as
    `write_differences`."""
    known = frozenset(str(commit.time) for commit in state.timeline.commits)
    nothing = iter(())
    return target.write_parts(lambda: nothing, changes_schema(columns), None, before, after, of_lake=True, known=known)


def _reload(target: TargetTable) -> str:
    if target.is_merged:
        return f"hudi-services cdc sync {target.source.server} --resume DATABASE.TABLE --start-fresh"
    return "hudi-services cdc load … --start-fresh"
