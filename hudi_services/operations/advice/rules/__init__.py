"""The rules: each is a function from facts to advice, and makes no storage call."""
