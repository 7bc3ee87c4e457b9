"""The parts of a platform service: its command, its section in the entry of a table, its DAG."""
