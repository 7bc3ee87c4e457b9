"""Comparison of a Hudi table with the table of the server that it is loaded from, and its repair."""
