"""The registry: which tables there are, where their data comes from, and which services run on them when."""
