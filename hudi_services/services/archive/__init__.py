"""The service `archive`: its entry, and what it does when it is called."""
