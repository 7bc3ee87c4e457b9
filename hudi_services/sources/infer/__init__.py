"""A folder of files looked at: the entry of a registry that would load it."""
