"""The one hierarchy of errors. Every message names the thing, what was found, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import ClassVar

_UNKNOWN = "by `rollback`, of which `hudi-services show commits` has the instant"


def rollback_fix(instant: str | None = None) -> str:
    """Return the remedy for what a commit has broken; `instant` is its time, None where only the list of commits shows it."""
    command = f"with `hudi-services rollback --instant {instant}`" if instant is not None else _UNKNOWN
    return (
        f"roll its commit back {command}, or, where commits came after it, restore the table to a savepoint before it: "
        "`hudi-services savepoint list` has those that there are"
    )


def unschedule_fix(instant: str) -> str:
    """Return the command that removes the plan of the compaction `instant`."""
    return f"`hudi-services compact --unschedule {instant}`"


class HoodieError(Exception):
    """Base of everything this project raises on purpose.

    A message has up to three parts: what is wrong with which thing, what was found there, and what to do. `retryable` says
    whether the same call may succeed a little later without any other action: each kind decides it.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, what: str, *, found: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.found = found
        self.fix = fix
        super().__init__(self._message())

    def place(self, where: str) -> None:
        """Put in front of the message where in a text or file the mistake is."""
        self.what = f"{where}: {self.what}"
        self.args = (self._message(),)

    def replace_fix(self, fix: str) -> None:
        """Say something else about what to do."""
        self.fix = fix
        self.args = (self._message(),)

    def _message(self) -> str:
        parts = [self.what.rstrip(".")]
        if self.found is not None:
            parts.append(f"Found: {self.found.rstrip('.')}")
        if self.fix is not None:
            parts.append(f"To do: {self.fix.rstrip('.')}")
        text = ". ".join(parts)
        return text if text.endswith("?") else text + "."

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by the default reduce: errors cross process borders on Spark.
        return _rebuild, (type(self), self.what, self.found, self.fix)


def _rebuild(kind: type[HoodieError], what: str, found: str | None, fix: str | None) -> HoodieError:
    return kind(what, found=found, fix=fix)


class ConfigError(HoodieError):
    """An option is unknown, has a value that cannot be, or contradicts another option or the table."""


class ArgumentError(ConfigError, ValueError, TypeError):
    """An argument of a call has a type or a value that it cannot have. It also is a ValueError and a TypeError."""


def check_argument(name: str, value: object, expected: str, *kinds: type, having: str | None = None) -> None:
    """Raises ArgumentError when the argument `name` has none of these types, nor the attribute `having`."""
    if not isinstance(value, kinds) and not (having is not None and hasattr(value, having)):
        raise ArgumentError(
            f"The argument {name!r} is of a type that it cannot have",
            found=f"{value!r:.100} ({type(value).__name__})",
            fix=f"give {expected}",
        )


class StorageError(HoodieError, OSError):
    """The storage failed, or refused: a disk is full, a file cannot be read, a server does not answer. It also is an OSError."""

    retryable = True  # storages recover

    def __str__(self) -> str:
        return str(self.args[0])


class AccessDeniedError(StorageError):
    """The user of the process has no right to a file or folder. `command` gives it; empty if no command of a shell does."""

    retryable = False

    def __init__(self, what: str, *, found: str | None = None, fix: str | None = None, command: str = "") -> None:
        super().__init__(what, found=found, fix=fix)
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return partial(AccessDeniedError, found=self.found, fix=self.fix, command=self.command), (self.what,)


class DataError(HoodieError, ValueError):
    """Rows that were given cannot be read, or what is asked cannot be computed of the rows. It also is a ValueError."""


class TableNotFoundError(HoodieError):
    """The base path holds no Hudi table."""


class OccupiedPathError(TableNotFoundError):
    """The base path holds no Hudi table, but something else, so that no table can be created there."""


class TableExistsError(HoodieError):
    """A table is to be created where there is one, or where there are other files."""


class UnsupportedTableError(HoodieError):
    """The table is a Hudi table, but of a version or with a feature that this library does not serve."""


class CorruptTableError(HoodieError):
    """A metadata file (properties, instant, archive) is torn, empty or contradicts itself."""


class NoInstantError(CorruptTableError, ValueError):
    """Text in the place of an instant that is not a date and time."""


class CorruptFileError(HoodieError):
    """A data file of the table or a source file cannot be read."""


class MissingFileError(HoodieError):
    """A file that the timeline promises is not there."""


class SchemaConflictError(HoodieError):
    """Incoming columns do not fit the table's; the message names the column."""


class RecordKeyError(HoodieError):
    """A record key or partition path column is missing, null or empty."""


class LockHeldError(HoodieError):
    """Another writer holds the table's lock."""

    retryable = True  # it is released


class LockLostError(HoodieError):
    """The table's lock was taken away, or ran out, while the change was under way: no instant was completed."""

    retryable = True  # the change begins again


class TablePausedError(HoodieError):
    """The table is paused: its services do not run until it is resumed."""


class PendingInstantError(HoodieError):
    """An unfinished instant prevents the change, and may belong to a running writer."""

    retryable = True  # that writer ends, or counts as dead


class KnownKeyError(HoodieError):
    """A row to insert has a key that the table has, and the insert was to fail then."""


class WriteConflictError(HoodieError):
    """Another writer has changed files that this one was about to change; nothing of this one is left."""

    retryable = True  # a new attempt goes out from what the other has left


class EarlyConflictError(WriteConflictError):
    """Another writer, which began earlier and is still at work, is changing the same files; nothing of this one is left."""


class DuplicateKeyError(WriteConflictError):
    """Another writer has inserted a key that an insert was about to add.

    Not retryable: an insert asks for no key, so a new attempt would add the row beside the other.
    """

    retryable = False


class StaleRowsError(HoodieError):
    """Rows that were computed from a table are to be written to it, and it was changed in between. Nothing was written."""

    retryable = True  # computed again, they are of today


class StaleSnapshotError(HoodieError):
    """A state of the table that is being read has lost a file: the table was changed, and a clean removed what is not current."""

    retryable = True  # read again, it is the state of that moment


class NotCommittedError(HoodieError):
    """The last step of a change failed, and certainly nothing of it is visible."""

    retryable = True  # storages recover


class UnclearCommitError(HoodieError):
    """The last step of a change failed, and it is unknown whether it is visible: look before it is run again.

    Not retryable: rows that are inserted twice are there twice. A caller that can look by itself may try again all the same.
    """


class UnsafePathError(HoodieError):
    """A path would lead out of the table, by a name in a metadata file or by a link into another table."""


class UnsafeDeleteError(UnsafePathError):
    """A delete was refused by the guard: the path is not a data file that the plan may remove."""


class DeleteCapError(HoodieError):
    """A run would delete more than it may without approval; nothing was changed. A user may approve its plan, by `digest`:
    empty if only the text of the error has come through. `deletion` are the `files`, their `bytes` and `partitions`, and the
    bytes of the table (`of_bytes`); None if they were not counted."""

    def __init__(
        self,
        what: str,
        *,
        found: str | None = None,
        fix: str | None = None,
        digest: str = "",
        deletion: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(what, found=found, fix=fix)
        self.digest = digest
        self.deletion = deletion

    def __reduce__(self) -> tuple[object, ...]:
        again = partial(DeleteCapError, found=self.found, fix=self.fix, digest=self.digest, deletion=self.deletion)
        return again, (self.what,)


class PlanChangedError(HoodieError):
    """The current plan of a service is another than the one that it was to execute; nothing of either was done."""


class UndeleteError(HoodieError):
    """Files to put back were not set aside."""


class TimeTravelError(HoodieError):
    """The asked instant cannot be read: unknown, before the first commit, or already cleaned."""


class ChangeRangeError(TimeTravelError):
    """The changes of a range cannot be given: their files are cleaned, or the table was restored to an earlier time."""


class StaleConsumerError(HoodieError):
    """Another process with the name of a consumer has moved its position, or deleted it, since this one read."""


class StreamBatchError(HoodieError):
    """A batch of a streaming query is older than what the table has of the query, or another run of the query writes too."""


class SavepointError(HoodieError):
    """A commit can have no savepoint, or a table cannot be restored to one."""


class NoSavepointError(SavepointError):
    """The named savepoint is not there."""


class RollbackError(HoodieError):
    """An instant cannot be rolled back: it is not there, not the last one, kept by a savepoint, or what it superseded is gone."""


class SourceError(HoodieError):
    """Ingestion's source cannot be read or is past the allowed share of bad rows."""


class MissingColumnError(SourceError):
    """A column that makes keys, partitions or order is in no row of ingestion's source."""


class SourceUnavailableError(SourceError):
    """The source cannot be read right now: its storage failed, or a file changed while it was loaded."""

    retryable = True  # storages recover, deliveries end


class CatalogError(HoodieError):
    """A metastore or HiveServer2 cannot be reached, or refused what was asked. The table itself is not touched."""

    retryable = True  # servers are started again, and a sync begins where the last one ended


class SqlError(HoodieError, ValueError):
    """A statement of SQL cannot be read, or asks for what is not there."""


class RegistryError(HoodieError):
    """The registry of tables (`tables.yaml`) has a mistake; the message names file, line and key."""


class StoreError(HoodieError):
    """The snapshot store of the watcher is away, damaged, or of another release."""

    retryable = True  # databases recover


class EngineError(HoodieError):
    """Spark failed while it ran a call: its own error is the cause."""

    retryable = True  # lost executors are among the causes


class MachineError(HoodieError):
    """The machine lacks something that the work needs: Java, disk space, a program."""


def missing_extra(extra: str, feature: str, error: ImportError | str) -> ConfigError:
    """For what needs packages that come with one of this package's extras."""
    return ConfigError(
        f"{feature} needs a package that is not installed",
        found=str(error),
        fix=f"pip install 'hudi-table-services[{extra}]'",
    )


def as_line(error: HoodieError | OSError) -> str:
    """The error as one line of JSON, from which `of_line` makes an equal one."""
    if not isinstance(error, HoodieError):
        return json.dumps({"error": OSError.__name__, "what": str(error) or type(error).__name__})
    return json.dumps({"error": type(error).__name__, "what": error.what, "found": error.found, "fix": error.fix})


def of_line(text: str) -> HoodieError | OSError | None:
    """The error from `as_line` at the beginning of `text`; None for other text.

    It is of the kind of that name, or a plain HoodieError when this process knows no such kind.
    """
    try:
        fields = json.JSONDecoder().raw_decode(text)[0]
        name, what = fields["error"], fields["what"]
    except (ValueError, KeyError, TypeError):
        return None
    if name == OSError.__name__:
        return OSError(what)
    kinds = {kind.__name__: kind for kind in _kinds(HoodieError)}
    return _rebuild(kinds.get(name, HoodieError), what, fields.get("found"), fields.get("fix"))


def _kinds(base: type[HoodieError]) -> Iterator[type[HoodieError]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)
