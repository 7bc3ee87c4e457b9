"""ORC files of the source of a bootstrap, for rows that are copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from hoodie.errors import CorruptFileError
from hoodie.storage.base import Storage


class OrcSource:
    """One ORC file, opened for reading. Close it, or use it in a `with` block."""

    def __init__(self, storage: Storage, path: str) -> None:
        """Raises CorruptFileError."""
        from pyarrow import orc  # few need it

        self._where = f"{storage.base_path}/{path}"
        self._source = storage.open_input(path)
        try:
            self._file = orc.ORCFile(self._source)
        except (pa.ArrowInvalid, OSError) as error:
            self._source.close()
            raise self._corrupt(error) from error

    def __enter__(self) -> OrcSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    @property
    def rows(self) -> int:
        return int(self._file.nrows)

    @property
    def schema(self) -> pa.Schema:
        return self._file.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows, a stripe at a time: the named columns that the file has."""
        present = [name for name in columns if name in self.schema.names]
        try:
            for number in range(self._file.nstripes):
                yield pa.Table.from_batches([self._file.read_stripe(number, present)])
        except (pa.ArrowInvalid, OSError) as error:
            raise self._corrupt(error) from error

    def _corrupt(self, error: Exception) -> CorruptFileError:
        return CorruptFileError(
            f"Source file {self._where} cannot be read", found=str(error), fix="restore the file, or take it away"
        )
