"""Alerts: each trouble of the tables of a registry is reported by HTTP, once when it begins and once when it ends."""
