"""Faults of a table, and their fixes: facts are gathered once, each check judges them (docs/how-to/doctor.md)."""
