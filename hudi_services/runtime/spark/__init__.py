"""What Spark needs of this machine, and its session."""
