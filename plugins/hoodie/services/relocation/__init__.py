"""Whole tables: dropped, copied and moved. Each step can be repeated after a kill."""
