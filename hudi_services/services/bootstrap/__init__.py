"""The service `bootstrap`: its entry, and what it does when it is called."""
