"""The checks: each judges the facts of a table and yields what it finds. None of them changes or lists anything."""
