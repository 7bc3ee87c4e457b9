"""The demo of whole databases: a server with many tables, their load by two statements, and a proof that both sides are equal."""
