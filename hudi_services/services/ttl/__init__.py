"""The service `ttl`: its entry, and what it does when it is called."""
