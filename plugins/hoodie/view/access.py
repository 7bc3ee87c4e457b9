"""How a table is reached, and what works on it."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.engine.base import Engine
from hoodie.storage.base import Storage
from hoodie.view.state import TableState, load_state


@dataclass(frozen=True)
class TableAccess:
    """The table's storage, the clock that times instants, and the engine that carries tasks out."""

    storage: Storage
    clock: Clock
    engine: Engine

    def state(self) -> TableState:
        """Properties and timeline as they are now (see `load_state`)."""
        return load_state(self.storage, self.clock)
