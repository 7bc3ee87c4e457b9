"""The boundary of the library: any failure in a call of a user's arrives as a HoodieError, with its cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from hoodie.errors import DataError, HoodieError, MachineError, StorageError
from hoodie.storage.rights import access_denied, is_denied


@contextmanager
def call(doing: str, *, changes: bool = False) -> Iterator[None]:
    """Around one call, or one function as its decorator: `doing` says what it does, for the message.

    A failure of the storage is a StorageError, which also is an OSError. A missing right is an AccessDeniedError. If it is not
    known whether a commit is in, an UnclearCommitError came before. Rows or a filter that Arrow cannot compute make a
    DataError, which also is a ValueError. A lack of memory is a MachineError. A mistake of this library keeps its own kind.
    """
    try:
        yield
    except HoodieError:
        raise
    except MemoryError as error:
        raise MachineError(
            f"There is not enough memory for {doing}",
            found=str(error) or type(error).__name__,
            fix="give the engine fewer threads, LocalEngine(1), or the machine more memory",
        ) from error
    except pa.ArrowException as error:
        raise DataError(
            f"Arrow cannot compute what {doing} asks for",
            found=f"{type(error).__name__}: {error}",
            fix="correct the rows, the filter or the columns that it names",
        ) from error
    except OSError as error:
        if is_denied(error):
            raise access_denied(doing, error) from error
        failed = StorageError(
            f"The storage failed while {doing}",
            found=f"{type(error).__name__}: {error}",
            fix=f"try again when it works; {'nothing half done is visible' if changes else 'nothing was changed'}",
        )
        failed.errno, failed.filename = error.errno, error.filename
        raise failed from error
