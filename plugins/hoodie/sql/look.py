"""The tables of a statement, each in one state, however often the statement names it or asks queries of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hoodie.dataset import HoodieDataset
from hoodie.model.place import identity
from hoodie.read.query import Incremental, Snapshot
from hoodie.table import HoodieTable
from hoodie.view import TableState


@dataclass(frozen=True)
class Look:
    """Tables as they were when a statement first looked at each of them."""

    _states: dict[str, TableState] = field(default_factory=dict)
    _datasets: dict[tuple[str, Snapshot | Incremental, bool], HoodieDataset] = field(default_factory=dict)

    @classmethod
    def at(cls, dataset: HoodieDataset) -> Look:
        """A look that has begun with the rows of one table as they are now."""
        place = identity(dataset.state.storage.base_path)
        return cls({place: dataset.state}, {(place, Snapshot(), False): dataset})

    def state(self, table: HoodieTable) -> TableState:
        """The table in its state."""
        place = identity(table.base_path)
        if place not in self._states:
            self._states[place] = table.state()
        return self._states[place]

    def dataset(self, table: HoodieTable, kind: Snapshot | Incremental, *, meta_columns: bool = False) -> HoodieDataset:
        """The table in its state, as `kind` asks for it. Raises what `HoodieDataset` raises."""
        place = identity(table.base_path)
        key = (place, kind, meta_columns)
        if key not in self._datasets:
            dataset = HoodieDataset(table, kind, state=self._states.get(place), meta_columns=meta_columns)
            self._states[place] = dataset.state
            self._datasets[key] = dataset
        return self._datasets[key]
