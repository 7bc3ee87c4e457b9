"""Savepoints: HoodieSavepointMetadata -> Savepoint (format notes, section 2.5)."""

from __future__ import annotations

from hoodie.formats import avro_file
from hoodie.model.savepoint import Savepoint
from hoodie.timeline.named import named_part, named_path, reading


def decode_savepoint(data: bytes, where: str) -> Savepoint:
    """Raises CorruptTableError naming `where` for a torn body, UnsafePathError for one whose names are more than names."""
    record = avro_file.decode(data, where)
    with reading(where, "savepoint"):
        return Savepoint(
            {
                named_path(partition, where): tuple(named_part(name, where) for name in entry["savepointDataFile"])
                for partition, entry in record["partitionMetadata"].items()
            }
        )
