"""Database servers of the registry, and the tables that are loaded from them."""
