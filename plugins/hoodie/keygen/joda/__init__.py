"""Dates as Joda-Time reads and writes them (Hudi's TimestampBased key generator), vectorised.

All of it works on milliseconds in NumPy arrays of int64, in the ISO calendar, with English names.
"""

from hoodie.keygen.joda.parse import Parsed, parse
from hoodie.keygen.joda.pattern import Pattern, PatternError, compile_pattern
from hoodie.keygen.joda.printer import print_times
from hoodie.keygen.joda.zones import UTC_ZONE, Zone, zone_of

__all__ = [
    "UTC_ZONE",
    "Parsed",
    "Pattern",
    "PatternError",
    "Zone",
    "compile_pattern",
    "parse",
    "print_times",
    "zone_of",
]
