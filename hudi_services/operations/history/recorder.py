"""Which runs leave a record where."""

from __future__ import annotations

from dataclasses import dataclass, field

from hudi_services.entry.table import History


@dataclass(frozen=True)
class Asker:
    """Who asked for a run: a task of Airflow, of which `attempt` is the try. At a shell all but that is None."""

    dag_id: str | None = None
    dag_run_id: str | None = None
    task_id: str | None = None
    map_index: int | None = None
    attempt: int = 1


@dataclass(frozen=True)
class Recorded:
    """Which runs leave a record where: those of `table`, asked for by `asker`."""

    history: History
    table: str
    asker: Asker = field(default_factory=Asker)
