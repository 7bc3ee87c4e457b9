"""Sources of rows: files, topics, streams, and databases."""
