"""Helpers of several tests: an exact clock, a storage that fails on demand, small tables."""
