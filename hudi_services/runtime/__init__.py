"""Results, failures, progress, pauses, terminal text, and the Spark session: all that each run needs."""
