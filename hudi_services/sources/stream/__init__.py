"""The service `stream`: its entry, and what it does when it is called."""
