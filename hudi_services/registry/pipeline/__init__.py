"""Pipelines of Flink CDC 3 in YAML, read as rules for tables of a database server."""
