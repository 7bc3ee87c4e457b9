"""The service `restore`: its entry, and what it does when it is called; and what a rollback by hand is made of."""
