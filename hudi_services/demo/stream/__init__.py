"""The streaming demo: two streams of events are joined, and three tables are fed by each other's changes."""
