"""What a write does in the workers: from batches of rows to data files."""
