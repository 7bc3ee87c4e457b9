"""The command `sql`: statements on the tables of a warehouse."""
