"""Reading and replacing `hoodie.properties` so that a crash at any step loses nothing (format notes, section 1.3)."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from functools import lru_cache

from hoodie.clock import Clock
from hoodie.config.properties.java_properties import format_properties, parse_properties
from hoodie.config.properties.table import TableProperties
from hoodie.errors import CorruptTableError, HoodieError, OccupiedPathError, TableNotFoundError
from hoodie.storage.base import Listing, Storage
from hoodie.storage.idempotent import create_own

PROPERTIES = ".hoodie/hoodie.properties"
BACKUP = ".hoodie/hoodie.properties.backup"
DROPPED, MOVING, COPYING = ".hoodie/dropped.properties", ".hoodie/moving.properties", ".hoodie/copied_from.json"
"""Files of a table whose drop, move or copy has begun: no program reads it without its properties."""
STAGED = ".hoodie/.staged"
"""Rows that wait for their write, which may be the one that creates the table: no sign of a table that was there."""
OCCUPIED = (
    "choose an empty path, where `hudi-services bootstrap` can make a table of these files; if they are those of a Hudi table, "
    "restore its .hoodie from a copy"
)
"""The remedy for a path with other files than those of a table."""
_MOST_NAMED = 5  # files in an error
_PARTITION = ".hoodie_partition_metadata"
BASE_FILE = r"[^_]+_\d+-\d+-\d+_\d{14,}\.[a-z]+"
"""The names of Hudi's base files."""
_OF_HUDI = re.compile(rf"{re.escape(_PARTITION)}|{BASE_FILE}$")
_MOST_LISTED = 10  # folders
_LOST = "these are files of a Hudi table, whose .hoodie is lost: restore it from a copy of the table"
_REMEMBERED = 64  # contents of property files
_TRIES, _PAUSE_SECONDS = 3, 0.2  # a reader may meet the moment between the delete and the new file


def load_properties(storage: Storage, clock: Clock) -> TableProperties:
    """The table's properties, from the backup when the main file is missing or invalid. Changes nothing.

    Raises TableNotFoundError when there is neither file, OccupiedPathError also when something else is there.
    CorruptTableError when none of them is valid, or both were lost.
    """
    main: TableProperties | HoodieError | None = None
    for attempt in range(_TRIES):
        if attempt:
            clock.sleep(_PAUSE_SECONDS)
        main = _read(storage, PROPERTIES)
        if isinstance(main, TableProperties):
            return main
        backup = _read(storage, BACKUP)
        if isinstance(backup, TableProperties):
            return backup
        listing = storage.list(".hoodie")
        other_paths = [
            *(folder for folder in listing.folders if folder != STAGED),
            *(file.path for file in listing.files),
        ]
        mark = next((path for path in (DROPPED, MOVING, COPYING) if path in other_paths), None)
        if main is None and backup is None and (mark or not other_paths):
            break  # what a drop, move or copy has begun ends with its next run, and not with the pause
    for content in (main, backup):
        if isinstance(content, HoodieError):
            raise content
    if mark:
        word = {DROPPED: "drop", MOVING: "move", COPYING: "copy"}[mark]
        raise OccupiedPathError(
            f"{storage.base_path} is not readable: a {word} of the table has begun and not ended",
            found=mark,
            fix=f"run the same {word} again"
            + ("" if mark == MOVING else ", or `hudi-services table drop` to delete what is left"),
        )
    if other_paths:
        raise CorruptTableError(
            f"{PROPERTIES} of {storage.base_path} is missing, and it has no backup",
            found=f"a table's other files: {', '.join(other_paths[:5])}",
            fix=f"restore it from a copy of the table{_versions(storage.base_path)}. Without one, run "
            "`hudi-services table recover`: it makes the file of the table's entry in the registry, if other files agree with "
            "the entry, and first shows what no file proves. No table is created over one that has lost its properties",
        )
    title = f"{storage.base_path} is not a Hudi table"
    if others := other_paths_of(present := storage.list("")):
        named = ", ".join(others[:_MOST_NAMED])
        fix = _table_nearby(storage, present)
        if fix is None:
            lost = _has_files_of_hudi(storage, present)
            fix = f"{_LOST}. {way_from_source(storage.base_path)}" if lost else OCCUPIED
        raise OccupiedPathError(title, found=f"no {PROPERTIES}, and other files: {named}", fix=fix)
    raise TableNotFoundError(
        title,
        found=f"no {PROPERTIES}",
        fix="check the path, or create the table: `hudi-services ingest` and HoodieTable.create do",
    )


def way_from_source(base_path: str) -> str:
    """The way to a table that has lost its `.hoodie`, or its timeline, and of which there is no copy: from its source."""
    aside = "move the folder to another path, with the client of the storage"
    if "://" not in base_path:
        old, new = shlex.quote(base_path), shlex.quote(f"{base_path}.lost")
        aside = f"move the folder aside by `mkdir -p {new} && mv {old} {new}/`"
    return (
        f"Without one, {aside}, then `hudi-services ingest`, which makes the table again from its source. Rows that are not in "
        "the source stay in the old files alone, beside older versions of rows: do not bootstrap these files"
    )


def _has_files_of_hudi(storage: Storage, present: Listing) -> bool:
    """Return whether one of the first files is named as a table's data file, or marks a partition."""
    folders, listed = list(present.folders), 0
    while True:
        if any(_OF_HUDI.match(file.name) for file in present.files):
            return True
        folders = [folder for folder in folders if not folder.startswith(".hoodie")]
        if not folders or listed == _MOST_LISTED:
            return False
        present, listed = storage.list(folders.pop(0)), listed + 1
        folders = [*present.folders, *folders]


def _table_nearby(storage: Storage, present: Listing) -> str | None:
    """The remedy for the path of a partition, and for that of a folder with tables; None for another path."""
    command = "hudi-services show table --target-base-path"
    if any(file.name.startswith(_PARTITION) for file in present.files):
        above = storage.base_path.rpartition("/")[0]
        return f"name the table, of which this is a partition: `{command} {shlex.quote(above)}`, or a folder further up"
    for folder in present.folders[:_MOST_NAMED]:
        if storage.list(f"{folder}/.hoodie").files:
            return f"name a table in this folder: `{command} {shlex.quote(f'{storage.base_path}/{folder}')}`"
    return None


def _versions(base_path: str) -> str:
    """The command that lists older versions of the file, where the store may have some."""
    scheme, _, rest = base_path.partition("://")
    bucket, _, folder = rest.partition("/")
    if scheme not in ("s3", "s3a"):
        return ""
    names = f"--bucket {shlex.quote(bucket)} --prefix {shlex.quote(f'{folder}/{PROPERTIES}')}"
    return (
        f", or from an older version of the object, if the bucket keeps any: `aws s3api list-object-versions {names}`"
    )


def other_paths_of(present: Listing) -> list[str]:
    """The files and folders in a base path that keep a table from being created there."""
    return [*(file.path for file in present.files), *(folder for folder in present.folders if folder != ".hoodie")]


def create_properties(storage: Storage, properties: TableProperties) -> None:
    """Write the properties of a new table. Raises FileExistsError when another has just been created here."""
    create_own(storage, PROPERTIES, _encode(properties))


def create_lost_properties(storage: Storage, properties: TableProperties) -> None:
    """Write the properties of a table that lost them. Raises FileExistsError when another process has just done so."""
    # Hadoop's local file system would refuse the new file with the checksum of the lost one.
    _drop_checksum_file(storage, PROPERTIES)
    create_own(storage, PROPERTIES, _encode(properties))


def update_properties(storage: Storage, properties: TableProperties) -> None:
    """Replace the properties: backup, delete, create, check, drop the backup. Call it under the table's lock."""
    recover_properties(storage)
    create_own(storage, BACKUP, storage.read(PROPERTIES))
    storage.delete(PROPERTIES)
    _drop_checksum_file(storage, PROPERTIES)
    create_own(storage, PROPERTIES, _encode(properties))
    written = _read(storage, PROPERTIES)
    if not isinstance(written, TableProperties) or dict(written.raw) != dict(properties.raw):
        raise CorruptTableError(
            f"{PROPERTIES} of {storage.base_path} reads differently from what was written",
            fix=f"another writer may have changed it; {BACKUP} holds the content before",
        )
    storage.delete(BACKUP)
    _drop_checksum_file(storage, BACKUP)


def recover_properties(storage: Storage) -> bool:
    """Finish or undo an update that a crash cut short; False when there is none. Call it under the table's lock.

    Raises CorruptTableError when neither file is valid; both stay, for a repair.
    """
    main, backup = _read(storage, PROPERTIES), _read(storage, BACKUP)
    if backup is None:
        return False
    if not isinstance(main, TableProperties):
        if isinstance(backup, HoodieError):
            raise main or backup
        storage.delete(PROPERTIES)
        _drop_checksum_file(storage, PROPERTIES)
        create_own(storage, PROPERTIES, storage.read(BACKUP))
    storage.delete(BACKUP)
    _drop_checksum_file(storage, BACKUP)
    return True


def properties_flaw(storage: Storage, path: str) -> str | None:
    """Why a file of properties cannot be used; "" for one that can, None when it is not there."""
    content = _read(storage, path)
    return (content.found or content.what) if isinstance(content, HoodieError) else None if content is None else ""


def torn_properties(storage: Storage) -> tuple[dict[str, str], str] | None:
    """The properties that can be read of a file that cannot be used, and why it cannot; None if it, or its backup, can, or if
    there is neither."""
    flaws = [properties_flaw(storage, path) for path in (PROPERTIES, BACKUP)]
    flaw = next(filter(None, flaws), None)
    if flaw is None or "" in flaws:
        return None
    legible: dict[str, str] = {}
    for path in (BACKUP, PROPERTIES):
        with suppress(FileNotFoundError, ValueError):
            legible |= parse_properties(storage.read(path))
    return {name: value for name, value in legible.items() if name.startswith("hoodie.")}, flaw


def _encode(properties: TableProperties) -> bytes:
    return format_properties(properties.raw, "Properties saved by hoodie")


def _read(storage: Storage, path: str) -> TableProperties | HoodieError | None:
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return None
    try:
        properties = _parsed(data)
    except ValueError as error:
        return CorruptTableError(f"{path} of {storage.base_path} cannot be read", found=str(error), fix=_of_torn(path))
    if properties.flaw is not None:
        return CorruptTableError(
            f"{path} of {storage.base_path} is not valid",
            found=f"{len(data)} bytes; {properties.flaw}",
            fix=_of_torn(path),
        )
    return properties


def _of_torn(path: str) -> str:
    """The remedy for a file that cannot be used, where the other one is no help."""
    fix = "restore it from a copy of the table"
    return (
        f"{fix}. Without one, run `hudi-services table recover`, which keeps the torn file"
        if path == PROPERTIES
        else fix
    )


@lru_cache(_REMEMBERED)
def _parsed(data: bytes) -> TableProperties:
    """A write reads the same bytes a few times. Raises ValueError on a broken escape."""
    return TableProperties(parse_properties(data))


def _drop_checksum_file(storage: Storage, path: str) -> None:
    """Hadoop's local file system leaves `.name.crc` files; a stale one makes Java readers fail (format notes, trap 19)."""
    folder, _, name = path.rpartition("/")
    storage.delete(f"{folder}/.{name}.crc")
