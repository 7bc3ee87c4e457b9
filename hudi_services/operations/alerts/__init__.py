"""Alerts: what stands wrong with the tables of a registry is told by HTTP, once when it begins and once when it ends."""
