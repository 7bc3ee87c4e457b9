"""Changes of a table that wait for their commit. Those of a long transaction wait in files."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hudi_services.sources.cdc.mysql.position import LogPosition

_MEMORY = 64 << 20  # bytes of a table's changes that stay in memory
_ROWS = 100_000  # rows of a table of changes


@dataclass(frozen=True)
class _Piece:
    position: LogPosition
    rows: int
    size: int
    changes: pa.Table | Path
    source: str

    def read(self) -> pa.Table:
        if isinstance(self.changes, pa.Table):
            return self.changes
        with pa.OSFile(str(self.changes)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all()


class HeldChanges:
    """Pieces of changes with the columns of `ChangeCollector`, in the order of the log."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        # Counted along: a batch of a thousand shards has tens of thousands of pieces, and asks at each of them.
        self._rows = self._size = self._memory = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files = 0

    @property
    def rows(self) -> int:
        """The number of changes that wait."""
        return self._rows

    @property
    def size(self) -> int:
        """The bytes of Arrow that they have, those in files too."""
        return self._size

    @property
    def memory(self) -> int:
        """The bytes of them that are in memory."""
        return self._memory

    def rows_by_source(self) -> Mapping[str, int]:
        """Return how many changes of each source wait."""
        rows: Counter[str] = Counter()
        for piece in self._pieces:
            rows[piece.source] += piece.rows
        return rows

    @property
    def position(self) -> LogPosition | None:
        """The place after the last piece, None without one."""
        return self._pieces[-1].position if self._pieces else None

    def add(self, position: LogPosition, changes: pa.Table, source: str = "") -> None:
        """Add a piece of transactions of `source` up to `position`. Raises OSError where the disk of temporary files is full."""
        stays = self._memory + changes.nbytes <= _MEMORY
        place = changes if stays else self._file_of(changes)
        self._count(_Piece(position, changes.num_rows, changes.nbytes, place, source))

    def drop(self, position: LogPosition, source: str = "") -> None:
        """Forget the pieces of a source that end at `position`."""
        self._keep([piece for piece in self._pieces if (piece.position, piece.source) != (position, source)])

    def forget(self, source: str) -> None:
        """Forget the pieces of a source."""
        self._keep([piece for piece in self._pieces if piece.source != source])

    def clear(self) -> None:
        """Forget all, and remove the files."""
        self._keep([])
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _keep(self, pieces: list[_Piece]) -> None:
        self._pieces = []
        self._rows = self._size = self._memory = 0
        for piece in pieces:
            self._count(piece)

    def _count(self, piece: _Piece) -> None:
        self._pieces.append(piece)
        self._rows += piece.rows
        self._size += piece.size
        self._memory += piece.size if isinstance(piece.changes, pa.Table) else 0

    def tables(self, fitted: Callable[[pa.Table], pa.Table] = lambda piece: piece) -> Iterator[pa.Table]:
        """Yield all changes, some at a time. `fitted` gives them the columns that they share."""
        parts: list[pa.Table] = []
        rows = 0
        for piece in self._pieces:
            parts.append(fitted(piece.read()))
            rows += piece.rows
            if rows >= _ROWS:
                yield pa.concat_tables(parts)
                parts, rows = [], 0
        if parts:
            yield pa.concat_tables(parts)

    def _file_of(self, changes: pa.Table) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="changes-")
        self._files += 1
        path = Path(self._folder.name) / f"{self._files}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, changes.schema) as writer:
            writer.write_table(changes)
        return path
