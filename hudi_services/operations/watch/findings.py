"""The findings of the last doctor's round of each table, beside the snapshots: a page shows them without a round of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from hoodie.doctor.catalogue import CHECKS
from hoodie.errors import StoreError
from hoodie.model.place import same_table
from hudi_services.operations.advice.facts import Damage
from hudi_services.operations.advice.findings import damages_of
from hudi_services.operations.doctor.rounds import TableDiagnosis
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry

_metadata = sa.MetaData()
_findings = sa.Table(
    "hudi_findings",
    _metadata,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("deep", sa.Boolean, primary_key=True),
    sa.Column("base_path", sa.Text, nullable=False),
    sa.Column("looked_at", sa.String(40), nullable=False),
    sa.Column("damages", sa.Text, nullable=False),
)

_log = logging.getLogger(__name__)


def keep_round(registry: Registry, diagnoses: Iterable[TableDiagnosis], now: datetime, *, deep: bool) -> None:
    """Keep the findings of tables of a registry for its pages. Without a watcher's store, or if that is away, nothing is kept."""
    names = {table.name: table.base_path for table in registry.tables}
    rows = [
        {
            "name": table.name,
            "deep": deep,
            "base_path": names[table.name],
            "looked_at": now.astimezone(UTC).isoformat(),
            "damages": json.dumps([asdict(damage) for damage in damages_of(table.diagnosis.findings)]),
        }
        for table in diagnoses
        if table.name in names
    ]
    try:
        with SnapshotStore.open(store_of(registry)) as store, store.writing() as connection:
            _metadata.create_all(connection)
            for row in rows:
                same = sa.and_(_findings.c.name == row["name"], _findings.c.deep == deep)
                connection.execute(_findings.delete().where(same))
                connection.execute(_findings.insert().values(row))
    except StoreError as error:
        _log.debug("The pages do not show the findings of this round: %s", error)


@dataclass(frozen=True)
class DoctorRound:
    """The last round of the doctor at a table, and its findings. Those of deep checks are of the last deep round."""

    looked_at: datetime
    damages: tuple[Damage, ...]


def last_round(store: SnapshotStore, name: str, base_path: str) -> DoctorRound | None:
    """The last round at a table; None without one. Raises StoreError."""
    with store.reading() as connection:
        if not sa.inspect(connection).has_table(_findings.name):
            return None
        stored = connection.execute(sa.select(_findings).where(_findings.c.name == name)).all()
    rows = [row for row in stored if same_table(row.base_path, base_path)]
    if not rows:
        return None
    last = max(rows, key=lambda row: datetime.fromisoformat(row.looked_at))
    return DoctorRound(datetime.fromisoformat(last.looked_at), tuple(_damages(rows, last)))


def _damages(rows: Iterable[Any], last: Any) -> Iterator[Damage]:
    for row in rows:
        for values in json.loads(row.damages):
            damage = Damage(**values)
            is_deep = damage.check in CHECKS and CHECKS[damage.check].deep
            if row is last or (row.deep and is_deep):
                yield replace(damage, looked_at=datetime.fromisoformat(row.looked_at))
