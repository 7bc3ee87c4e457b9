"""Declarations of how the files of a feed are read and shaped, without Arrow."""
