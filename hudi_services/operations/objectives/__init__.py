"""Objectives of the registry's tables: facts are gathered, and a pure judge says which are missed and which service
restores each."""
