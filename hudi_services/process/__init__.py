"""How a process of a service lives and ends."""
