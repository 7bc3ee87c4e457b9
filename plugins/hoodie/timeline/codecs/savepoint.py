"""Savepoints: HoodieSavepointMetadata <-> Savepoint (format notes, section 2.5)."""

from __future__ import annotations

from hoodie.formats import avro_file
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline.name_checks import named_part, named_path, reading


def encode_savepoint(savepoint: Savepoint) -> bytes:
    return avro_file.encode(
        "HoodieSavepointMetadata",
        {
            "savepointedBy": savepoint.by,
            "savepointedAt": savepoint.at_ms,
            "comments": savepoint.comments,
            "partitionMetadata": {
                partition: {"partitionPath": partition, "savepointDataFile": list(names)}
                for partition, names in sorted(savepoint.files.items())
            },
            "version": 1,
        },
    )


def decode_savepoint(data: bytes, where: str, instant: Time = BEGINNING) -> Savepoint:
    """`instant` is in the name of the file.

    Raises CorruptTableError naming `where` for a torn body, UnsafePathError for one whose names are more than names.
    """
    record = avro_file.decode(data, where)
    with reading(where, "savepoint"):
        files = {
            named_path(partition, where): tuple(named_part(name, where) for name in entry["savepointDataFile"])
            for partition, entry in record["partitionMetadata"].items()
        }
        user, at_ms, comments = (record.get(name) for name in ("savepointedBy", "savepointedAt", "comments"))
        return Savepoint(files, instant, user or "", at_ms or 0, comments or "")
