"""The service `sync`: its entry, and what it does when it is called."""
