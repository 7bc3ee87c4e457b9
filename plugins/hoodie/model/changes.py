"""Columns and operations of changes, in change feeds and in logs of changes (format notes, section 12)."""

from __future__ import annotations

OP, BEFORE, AFTER = "op", "before", "after"
COMPLETION_TIME = "_hoodie_completion_time"
INSERT, UPDATE, DELETE = "i", "u", "d"
