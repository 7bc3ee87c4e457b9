"""Upgrade of a table to a later version: its timeline, archive and properties change, and no data file does."""
