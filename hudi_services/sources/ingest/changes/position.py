"""The position of a source that is a Hudi table: which table, and the completion of the last commit that was taken in."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hoodie.changes.range import check_begun, is_position
from hoodie.errors import ChangeRangeError, ConfigError, CorruptTableError
from hoodie.model.time import Time
from hoodie.view import TableState
from hudi_services.sources.positions import Position

KEY = "hudi_services.stream.position"
"""The key of the extra metadata of commits that keeps it."""


@dataclass(frozen=True)
class TablePosition:
    """All commits of `table` that completed up to `completion` are taken in."""

    table: str
    completion: Time
    began: Time | None = None
    """See `last_begin`. None where it is not known."""

    def encode(self) -> str:
        """Text for the extra metadata of a commit."""
        began = {"began": str(self.began)} if self.began is not None else {}
        return json.dumps({"table": self.table, "completion": str(self.completion), **began})

    @staticmethod
    def decode(position: Position) -> TablePosition:
        """Raises CorruptTableError for what is not a position of a table."""
        try:
            stored = json.loads(position.text)
            began = Time.of(str(stored["began"])) if "began" in stored else None
            return TablePosition(str(stored["table"]), Time.of(str(stored["completion"])), began)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptTableError(
                f"The position of the stream in {position.where} cannot be read",
                found=f"{position.text!r:.200}",
                fix="pass --start-fresh to load the whole source again",
            ) from error

    def check_source(self, state: TableState, where: str) -> None:
        """Raises ConfigError when the position, which the commit `where` holds, is of another table."""
        if self.table != state.properties.name:
            raise ConfigError(
                f"The stream continues table {self.table!r}, and its source is another one",
                found=f"table {state.properties.name!r} at {state.storage.base_path}, and the position in {where}",
                fix=f"name the path of table {self.table!r}, or pass --start-fresh to load the new source from its begin",
            )

    def check_reached(self, state: TableState) -> None:
        """Raises ChangeRangeError when the source has no commit that completed then: it was made again, or taken back. So it does
        when a commit was rolled back beside which the one that completed then ran."""
        if not is_position(state, self.completion):
            raise ChangeRangeError(
                f"The changes of table {state.storage.base_path} after {self.completion} do not continue what was read before",
                found=f"no commit completed at {self.completion}: the table was made again, or restored to an earlier time",
                fix="load the source again",
            )
        check_begun(state, self.completion, self.began)
