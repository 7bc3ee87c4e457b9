"""Columns that the library adds to rows while it works on them, none of which is ever stored.

Their names begin with a character that no Avro name can hold, and every schema that enters is held against Avro's names
(`hoodie.schema.normalise`, `hoodie.schema.avro_to_arrow`): no column of a table can be taken for one of these.
"""

from __future__ import annotations

_MARK = "@"

SEQUENCE = _MARK + "sequence"
"""int64 column of incoming rows: their place in the input, which settles ties the same way on every engine."""
DELETE = _MARK + "delete"
"""Boolean column of incoming rows: the row removes its key instead of replacing it."""
DELETION = _MARK + "deletion"
"""Boolean column of the rows of changes, given to an upsert: the row deletes its key."""
ORDER = _MARK + "order."
"""Prefix of the columns that order the changes of a key."""
RESET = _MARK + "reset"
"""Boolean column of rows of logs: the row wins over every earlier row of its key, with any ordering values."""
GROUP = _MARK + "group"
"""int32 column of stored keys: number of the file group (its place in the list of slices) that holds the key."""
POSITION = _MARK + "position"
"""int64 column: number of the row in the base file, from 0, that has the same key; -1 where that is not known."""
LACKS = _MARK + "lacks."
"""Prefix of boolean columns of rows from logs: the row comes without the column that is named behind it."""


def is_internal(name: str) -> bool:
    """Return whether a column of this name is the library's own."""
    return name.startswith(_MARK)
