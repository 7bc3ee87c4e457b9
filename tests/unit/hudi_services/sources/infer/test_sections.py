"""The sections of a registry beside its tables."""

from __future__ import annotations

import yaml

from hudi_services.sources.infer.sections import sections_text

HOUR = 3_600_000


def freshness(*hours):
    return yaml.safe_load(sections_text("/in", [int(hour * HOUR) for hour in hours]))["objectives"]["freshness"]


def test_freshness_follows_the_times_of_the_files():
    assert freshness() == freshness(1) == freshness(1, 2) == "26h"
    assert freshness(1, 1.001, 1.002, 1.003) == "26h", "one delivery of several files"
    assert freshness(0, 24, 48, 72.5) == "2d"
    assert freshness(2, 1, 3, 0) == "3h"
    assert freshness(0, 0.1, 0.2, 0.3) == "1h"
    assert freshness(0, 1000, 2000) == "32d"
