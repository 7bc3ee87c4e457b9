"""The service `cluster`: its entry, and what it does when it is called."""
