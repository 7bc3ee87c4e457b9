"""Keys of options, one module a service."""
