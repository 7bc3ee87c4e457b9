"""The plain-English check: the prose of the project, the rules it keeps, and the counts that may only fall."""
