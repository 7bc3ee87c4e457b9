"""Spark as the engine of queries. Imported only where a session is given."""
