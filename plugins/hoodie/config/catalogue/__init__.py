"""Hudi's whole catalogue of options, and what becomes of each one here."""

from __future__ import annotations

from hoodie.config.catalogue.load import Entry, Kind, Verdict, catalogue, find

__all__ = ["Entry", "Kind", "Verdict", "catalogue", "find"]
