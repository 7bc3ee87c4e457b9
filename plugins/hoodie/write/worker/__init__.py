"""Work of a write in the workers: from batches of rows to data files."""
