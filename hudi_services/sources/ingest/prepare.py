"""The preparation of a run. It looks at the table and the source, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.config.groups import INGEST_OPTIONS
from hoodie.config.keys.write import PARTITIONS_TO_DELETE
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.engine import Engine
from hoodie.errors import ConfigError, OccupiedPathError
from hoodie.services.inline import InlineServices
from hoodie.table import HoodieTable
from hoodie.transaction.create import never_committed
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.source import Batch
from hudi_services.sources.ingest.target import Target, find_target
from hudi_services.sources.positions import Position, Since, find_position, find_since


@dataclass(frozen=True)
class Prepared:
    """The table as it is, or as it will be created, and what the run would load."""

    target: Target
    position: Position | None
    batch: Batch
    operation: Operation
    first: bool  # the operation is that of the history: the table must have no commit
    after: InlineServices  # with the options that are meant for the ingestion and the services after its commit

    @property
    def table(self) -> HoodieTable | None:
        """The table, if it is there."""
        return self.target.table

    @property
    def properties(self) -> TableProperties:
        """The properties of the table, or those that it will have."""
        return self.target.properties

    def warnings(self, operation: Operation) -> tuple[str, ...]:
        """Warnings for a person before rows are loaded again by this operation."""
        by_order = operation.deletes or self.properties.merge_ordering_fields
        if not self.batch.again or not operation.finds_keys or by_order:
            return ()
        return (
            "the table orders by no column, so rows that are loaded again take the place of newer ones of their keys",
        )


def prepare(request: IngestRequest, engine: Engine) -> Prepared:
    """Look at the table and the source; changes nothing. Raises HoodieError if one does not fit the request."""
    after = InlineServices.of(request.options, INGEST_OPTIONS)
    if not 0 <= request.max_bad_share <= 1:  # nan is neither
        raise ConfigError(
            f"The share of bad rows cannot be {request.max_bad_share}", fix="give --max-bad-share a number from 0 to 1"
        )
    if after.options.is_set(PARTITIONS_TO_DELETE):
        raise ConfigError(
            f"An ingestion takes no {PARTITIONS_TO_DELETE.name}",
            found="by the operation delete_partition it drops the partitions of the rows that it loads",
            fix="remove it; HoodieTable.delete_partitions drops partitions by their names",
        )
    places = request.places
    places.check()
    try:
        target = find_target(request.base_path, request.operation, after.options, engine)
    except OccupiedPathError:  # by files of a source that lies there? It refuses that by a better error
        request.source.discover(None, places, start_fresh=request.start_fresh, since=None)
        raise
    position: Position | None = None
    since: Since | None = None
    if target.state is not None:
        position = find_position(target.state, request.source.position_key, start_fresh=request.start_fresh)
        if request.reload_since is not None:
            since = find_since(target.state, request.source.position_key, request.reload_since)
    if request.reload_since is not None and since is None:
        raise ConfigError(
            f"--reload-since {request.reload_since} names no instant",
            found=f"no table with commits in {request.base_path}",
            fix="leave it out: every file is new",
        )
    batch = request.source.discover(position, places, start_fresh=request.start_fresh, since=since)
    first = request.history is not None and batch.is_history and (target.state is None or never_committed(target.state))
    operation = request.history if first and request.history is not None else request.operation
    return Prepared(target, position, batch, operation, first, after)
