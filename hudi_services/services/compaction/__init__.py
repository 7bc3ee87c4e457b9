"""The service `compact`: its entry, and what it does when it is called."""
