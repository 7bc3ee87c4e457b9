"""Rows that a Hudi table of several sources has: those of some sources, and whose those of some keys are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.table import TableProperties
from hoodie.dataset import HoodieDataset
from hoodie.errors import PendingInstantError, SourceError
from hoodie.merge import IDENTITY
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.schema import top_level
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeRows
from hudi_services.sources.cdc.mysql.definition import TableName
from hudi_services.sources.cdc.mysql.key_owners import Arrivals, Holders, Verdict, traces
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN, TableSource
from hudi_services.sources.key_lookup import rows_of_keys

_SOURCE = (DATABASE_COLUMN, TABLE_COLUMN)


@dataclass(frozen=True)
class StoredRows:
    """The rows of `table` as it is in `state`."""

    table: HoodieTable
    state: TableState

    @property
    def located_by(self) -> tuple[str, ...]:
        """The columns that say which row one is, and where."""
        return row_columns(self.state.properties)

    def of_sources(self, sources: Sequence[TableSource], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield columns of the rows that the table has of these sources."""
        if sources:
            yield from HoodieDataset(self.table, state=self.state).to_batches(list(names), _is_of(sources))

    def filled(self, names: Sequence[str]) -> dict[str, set[TableName]]:
        """Return which sources have rows with a value, for each of these columns of the table."""
        sources: dict[str, set[TableName]] = {name: set() for name in names}
        if not names:
            return sources
        has_value = reduce(or_, (pc.field(name).is_valid() for name in names))
        for batch in HoodieDataset(self.table, state=self.state).to_batches([*_SOURCE, *names], has_value):
            counts = pa.Table.from_batches([batch]).group_by(_SOURCE).aggregate([(name, "count") for name in names])
            for name in names:
                rows = counts.filter(pc.field(f"{name}_count") > 0)
                sources[name].update(zip(*(rows[column].to_pylist() for column in _SOURCE), strict=True))
        return sources

    def owners(self, keyed: pa.Table, rows_of: ChangeRows, without: Sequence[TableSource]) -> pa.Table:
        """Return whose the stored rows are that have keys of `keyed`: their keys and their sources, without some sources.

        `keyed` has the columns of the record key, too.
        """
        owner = pa.schema([(name, pa.string()) for name in (*IDENTITY, *_SOURCE)])
        stored = rows_of_keys(self.table, self.state, keyed, rows_of, _SOURCE)
        owners = pa.concat_tables([owner.empty_table(), *(rows.cast(owner) for rows in stored)])
        return owners.filter(pc.invert(_is_of(without))) if without else owners


def row_columns(properties: TableProperties) -> tuple[str, ...]:
    """Return the columns of a table that say which row one is, and where."""
    return tuple(dict.fromkeys(top_level((*properties.record_key_fields, *properties.partition_fields))))


class UnclearRowsError(PendingInstantError):
    """Rows are in two tables, and the log was not read to where the other one is: it is not known which has them last."""


def owned_changes(
    parts: Callable[[], Iterator[pa.Table]],
    rows_of: ChangeRows,
    stored: StoredRows,
    emptied: Sequence[TableSource],
    arrivals: Arrivals,
    *,
    are_all: bool,
) -> Verdict | None:
    """Return which changes count of tables that share keys: those of rows of their table. None where there are no changes.

    The rows of `emptied` tables are deleted before.

    Raises SourceError for keys that two tables have where the changes `are_all` rows of the emptied tables: these are read at
    moments of their own, so it is not known which table had a row last. Raises UnclearRowsError as its class says.
    """
    identity = rows_of.identity
    fields = list(dict.fromkeys(top_level(rows_of.keys.fields)))

    def traced(read: Callable[[], Iterator[pa.Table]]) -> Iterator[pa.Table]:
        for changes in read():
            yield traces(changes, rows_of.keyed(changes), [*identity, *fields])

    key_traces = list(traced(parts))
    if not key_traces:
        return None
    holders = Holders.of(pa.concat_tables(key_traces), identity, *fields)
    if are_all:
        owners = stored.owners(holders.table, rows_of, emptied)
        keys = holders.table.group_by(identity).aggregate([]).num_rows
        if shared := owners.num_rows + holders.table.num_rows - keys:
            raise shared_keys(f"{shared:,} of {holders.table.num_rows:,} rows")
    inserted_keys = holders.inserted[RECORD_KEY].combine_chunks()
    came = [rows.filter(pc.is_in(rows[RECORD_KEY], value_set=inserted_keys)) for rows in traced(arrivals.parts)]
    holders = holders.beside(came, arrivals.unseen)
    owners = stored.owners(holders.undecided, rows_of, emptied)
    if arrivals.unseen and (unclear := holders.unclear(owners)).num_rows:
        ahead, behind = (
            f"{unclear[f'{kind}database'][0]}.{unclear[f'{kind}table'][0]}" for kind in ("owner_", "_source_")
        )
        raise UnclearRowsError(
            f"Rows are in two tables of the server, and {ahead} is ahead of {behind}",
            found=f"{unclear.num_rows:,} rows, of which it is not known which table got them last",
            fix=f"run again. If {ahead} is parked, resume it together with {behind}",
        )
    return holders.verdict(owners)


def shared_keys(cause: str) -> SourceError:
    """Return the error of tables that have rows of one key."""
    return SourceError(
        "Tables of the server have rows of one key, and their keys are said to be global",
        found=cause,
        fix="resume the tables once each row is in one of them. If rows share keys for good, load into a new path without "
        "global_keys, so that database and table are parts of the key",
    )


def _is_of(sources: Sequence[TableSource]) -> pc.Expression:
    databases: dict[str, list[str]] = {}
    for source in sources:
        databases.setdefault(source.database, []).append(source.name)
    chosen = pc.scalar(False)
    for database, tables in databases.items():
        chosen = chosen | ((pc.field(DATABASE_COLUMN) == database) & pc.field(TABLE_COLUMN).isin(tables))
    return chosen
