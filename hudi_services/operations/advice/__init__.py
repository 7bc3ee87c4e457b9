"""Advice on tables: what is wrong or waits, and what fixes it. Pure rules judge facts, which are gathered at the edge."""
