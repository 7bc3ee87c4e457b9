"""The command `sql`: statements on the tables of a registry or a warehouse."""
