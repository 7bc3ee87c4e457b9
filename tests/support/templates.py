"""Tables that many tests begin with: written once, and copied for each of the others."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

from hoodie import HoodieTable


class Templates:
    """Copies of tables as they were once filled, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, ...], tuple[Path, object]] = {}

    def filled(self, empty: HoodieTable, fill: Callable[[HoodieTable], object]) -> HoodieTable:
        """`empty` after `fill`, with the clock where that left it. Tables of one version and type are filled alike."""
        key = (fill.__module__, fill.__qualname__, str(empty.version), empty.properties.raw["hoodie.table.type"])
        if key not in self._made:
            fill(empty)
            kept = self._folder / str(len(self._made))
            shutil.copytree(empty.base_path, kept)
            self._made[key] = kept, copy.deepcopy(empty.clock)
            return empty
        kept, clock = self._made[key]
        shutil.rmtree(empty.base_path)
        shutil.copytree(kept, empty.base_path)
        return HoodieTable.open(empty.base_path, clock=copy.deepcopy(clock), engine=empty.engine)
