"""Databases as sources: their snapshots and their change logs."""
