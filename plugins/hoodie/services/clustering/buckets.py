"""Tables whose file groups are buckets are not clustered."""

from __future__ import annotations

from hoodie.errors import UnsupportedTableError
from hoodie.index.bucket_layout import is_bucketed
from hoodie.index.hashing_files import is_consistently_hashed
from hoodie.view import TableState


def refuse_buckets(state: TableState) -> None:
    """Raises UnsupportedTableError: rows would go where no writer looks for their keys, and stand twice after the next upsert."""
    hashed = is_consistently_hashed(state)
    if hashed or is_bucketed(state):
        raise UnsupportedTableError(
            f"The file groups of table {state.storage.base_path} are buckets (hoodie.index.type=BUCKET)",
            found="metadata of consistent hashing" if hashed else "the file ids of its newest commit",
            fix="nothing was changed; such a table is not clustered: its rows lie where their keys say",
        )
