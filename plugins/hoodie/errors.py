"""The one hierarchy of errors. Every message names the thing, what was found, and what to do about it."""

from __future__ import annotations

# Remedies that messages name. Both are Hudi's own commands: this project has none of its own for them yet.
HUDI_ROLLBACK = (
    "roll its commit back with Hudi (in Spark SQL `call rollback_to_instant(table => '…', instant_time => '…')`)"
)
HUDI_UNSCHEDULE = "`compaction unschedule --instant …` in Hudi's command line (hudi-cli)"


class HoodieError(Exception):
    """Base of everything this project raises on purpose.

    A message has up to three parts: what is wrong with which thing, what was found there, and what to do.
    """

    def __init__(self, what: str, *, found: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.found = found
        self.fix = fix
        parts = [what.rstrip(".")]
        if found is not None:
            parts.append(f"Found: {found.rstrip('.')}")
        if fix is not None:
            parts.append(f"To do: {fix.rstrip('.')}")
        text = ". ".join(parts)
        super().__init__(text if text.endswith("?") else text + ".")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by the default reduce: errors cross process borders on Spark.
        return _rebuild, (type(self), self.what, self.found, self.fix)


def _rebuild(kind: type[HoodieError], what: str, found: str | None, fix: str | None) -> HoodieError:
    return kind(what, found=found, fix=fix)


class ConfigError(HoodieError):
    """An option is unknown, has a value that cannot be, or contradicts another option or the table."""


class TableNotFoundError(HoodieError):
    """The base path holds no Hudi table."""


class TableExistsError(HoodieError):
    """A table is to be created where there is one, or where there are other files."""


class UnsupportedTableError(HoodieError):
    """The table is a Hudi table, but of a version or with a feature that this library does not serve."""


class CorruptTableError(HoodieError):
    """A metadata file (properties, instant, archive) is torn, empty or contradicts itself."""


class NoInstantError(CorruptTableError, ValueError):
    """Text that stands where an instant should, and is no date and time."""


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


class PendingInstantError(HoodieError):
    """An unfinished instant stands in the way and may belong to a running writer."""


class NotCommittedError(HoodieError):
    """The last step of a change failed, and certainly nothing of it is visible."""


class UnclearCommitError(HoodieError):
    """The last step of a change failed, and whether it is visible cannot be told: look before it is run again."""


class UnsafePathError(HoodieError):
    """A metadata file names an instant, a partition or a file by which a path would lead out of the table."""


class UnsafeDeleteError(UnsafePathError):
    """A delete was refused by the guard: the path is not a data file that the plan may remove."""


class TimeTravelError(HoodieError):
    """The asked instant cannot be read: unknown, before the first commit, or already cleaned."""


class SourceError(HoodieError):
    """Ingestion's source cannot be read or is past the allowed share of bad rows."""


class CatalogError(HoodieError):
    """A metastore or HiveServer2 cannot be reached, or refused what was asked. The table itself is not touched."""


class RegistryError(HoodieError):
    """The registry of tables (`tables.yaml`) has a mistake; the message names file, line and key."""


class MachineError(HoodieError):
    """The machine lacks something that the work needs: Java, disk space, a program."""


def missing_extra(extra: str, what: str, error: ImportError) -> ConfigError:
    """For what needs packages that come with one of this package's extras."""
    return ConfigError(
        f"{what} needs a package that is not installed",
        found=str(error),
        fix=f"pip install 'hudi-table-services[{extra}]'",
    )
