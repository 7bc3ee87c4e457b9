"""CALL: the procedures of Hudi's SQL, by its names, with its parameters and columns."""
