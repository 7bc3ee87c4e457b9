"""What several tests use: an exact clock, a storage that fails on demand, small tables."""
