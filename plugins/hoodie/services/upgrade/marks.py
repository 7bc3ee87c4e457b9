"""The mark of an upgrade that has begun: it names the files of the old timeline, which go once the new one is in use."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own
from hoodie.timeline.name_checks import named_part, named_watermark

MARK = ".hoodie/upgrade.json"


@dataclass(frozen=True)
class UpgradeMark:
    """The upgrade, the names of the files of the timeline that it converts, by time and state, and the latest instant of them."""

    version: int
    target: int
    latest: Time
    files: tuple[str, ...]

    def write(self, storage: Storage) -> None:
        """Begin the upgrade."""
        create_own(storage, MARK, json.dumps(asdict(self)).encode())


def read_mark(storage: Storage) -> UpgradeMark | None:
    """The upgrade that has begun and not ended; None without one. Raises CorruptTableError for a mark that cannot be read."""
    try:
        data = storage.read(MARK)
    except FileNotFoundError:
        return None
    try:
        values = json.loads(data)
        return UpgradeMark(
            int(values["version"]),
            int(values["target"]),
            named_watermark(values["latest"], MARK),
            tuple(named_part(name, MARK) for name in values["files"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptTableError(
            f"{MARK} of {storage.base_path} cannot be read",
            found=f"{len(data)} bytes ({error!r})",
            fix="move it away if hoodie.properties has version 6, and run the upgrade again. Otherwise restore it from a copy",
        ) from error
