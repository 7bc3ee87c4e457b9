"""Row-level changes of a table: what each commit inserted, updated and deleted."""

from hoodie.changes.query import ChangeQuery
from hoodie.changes.read import ChangeStream, open_changes, read_changes

__all__ = ["ChangeQuery", "ChangeStream", "open_changes", "read_changes"]
