"""The demo's Airflow: its lake and the landed files are in the same folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hudi_services.local_airflow.home import AirflowHome
from hudi_services.runtime.folders import PROJECT


@dataclass(frozen=True)
class DemoHome(AirflowHome):
    """Its DAGs wait until they are switched on: the demo says when a table is loaded."""

    registry: Path = PROJECT / "tables.yaml"
    paused: bool = True

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def landing(self) -> Path:
        return self.folder / "landing"

    def variables(self) -> dict[str, str]:
        """The environment variables that paths of the demo's registry are made of."""
        return {"HUDI_LAKE": str(self.lake), "HUDI_LANDING": str(self.landing)}
