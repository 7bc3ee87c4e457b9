"""Limits of the deletes of a run without approval. These options are ours: Hudi has none.

Past them a run ends before its plan is written, as a slip in the other options could delete most of a table.
"""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, fraction, integer

MAX_FILES = ConfigKey[int](
    "hoodie.delete.max.files", integer(1), 100_000, "a run that would delete more data files is stopped, and asks"
)
MAX_BYTES = ConfigKey[int](
    "hoodie.delete.max.bytes", integer(1), 10 << 40, "a run that would delete more bytes of data is stopped, and asks"
)
MAX_SHARE = ConfigKey[float](
    "hoodie.delete.max.share",
    fraction,
    0.9,
    "a run that would delete a greater share of the table's bytes is stopped, and asks; plans of fewer than 1,000 files only "
    "when this is set",
)

GRACE_HOURS = ConfigKey[int](
    "hoodie.delete.grace.hours",
    integer(0),
    0,
    "hours for which a clean sets the files aside that it removes, so that `hudi-services undelete` can put them back; 0: they "
    "are deleted at once",
)

DELETE_KEYS: tuple[ConfigKey[Any], ...] = (MAX_FILES, MAX_BYTES, MAX_SHARE)
