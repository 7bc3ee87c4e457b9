"""Facts that follow from other facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hudi_services.operations.advice.facts import IdleLoad
from tests.support.advice import AT_NINE, facts, start


def test_a_load_proves_that_a_source_is_idle_only_if_it_came_after_the_limit():
    load = IdleLoad("/land", "0 files", AT_NINE)
    assert load.proves(None)
    assert load.proves(AT_NINE)
    assert not load.proves(AT_NINE + timedelta(seconds=1))
    assert replace(load, at=None, looked=True).proves(AT_NINE)


def test_the_loader_is_the_service_that_brings_rows():
    assert facts(starts=start("clean")).loader is None
    loader = facts(starts=start("ingest")).loader
    assert loader is not None
    assert loader.service == "ingest"
