"""The runs that leave a record, and where."""

from __future__ import annotations

from dataclasses import dataclass, field

from hudi_services.entry.table import History


@dataclass(frozen=True)
class Asker:
    """The asker of a run: a task of Airflow, of which `attempt` is the try. At a shell all but that is None."""

    dag_id: str | None = None
    dag_run_id: str | None = None
    task_id: str | None = None
    map_index: int | None = None
    attempt: int = 1


@dataclass(frozen=True)
class Recorded:
    """The place of a run's record: in `history`, as a run of `table`, asked for by `asker`."""

    history: History
    table: str
    asker: Asker = field(default_factory=Asker)
