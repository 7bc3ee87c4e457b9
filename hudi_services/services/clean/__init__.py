"""The service `clean`: its entry, and what it does when it is called."""
