"""Preflight of a bootstrap: the facts of the source and its problems. Writes nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hoodie.config.keys import bootstrap as keys
from hoodie.engine.base import Engine
from hoodie.errors import ConfigError, HoodieError
from hoodie.formats.key_index import footer_bytes
from hoodie.keygen import key_generator
from hoodie.model.place import identity, lies_in
from hoodie.services.bootstrap.check import find_duplicates
from hoodie.services.bootstrap.plan import BootstrapPlan, plan_bootstrap
from hoodie.services.bootstrap.request import BootstrapRequest
from hoodie.services.bootstrap.source import check_unchanged, list_source, read_footers
from hoodie.write.plan import base_file_options


def preflight(request: BootstrapRequest, engine: Engine) -> BootstrapPlan:
    """Look at the source: footers, and the keys as `hoodie.bootstrap.check.keys` says. Writes nothing.

    Problems of a bootstrap are part of the plan. Raises SourceError if there can be no plan: a source that is a Hudi table, has
    no files, or is being written to; ConfigError for invalid options.
    """
    options, properties, source = request.chosen, request.properties, request.source
    _check_places(source.base_path, request.storage.base_path)
    orc = options[keys.SOURCE_FORMAT] == "ORC"
    files = list_source(source)
    record_keys, paths = key_generator(properties)
    named = [*record_keys.fields, *paths.fields]
    footers = read_footers(source, files, named, orc, engine, options[keys.PARALLELISM])
    bloom_bytes = partial(footer_bytes, options=base_file_options(options, properties))
    plan = plan_bootstrap(source.base_path, footers, properties, options, bloom_bytes)
    if not plan.problems and options[keys.CHECK_KEYS] != "NONE":
        sample = options[keys.CHECK_KEYS] == "SAMPLE"
        splits = plan.splits(source, plan.files, orc=orc)
        try:
            duplicates = find_duplicates(splits, record_keys, paths, plan.rows, sample, engine)
        except HoodieError as error:
            plan = replace(plan, problems=(str(error),))
        else:
            if duplicates.keys:
                where = " in the sample" if sample else ""
                problem = f"{duplicates.keys} record keys are not unique{where}: {duplicates.example}"
                plan = replace(plan, problems=(f"{problem}; remove the copies, or name more key columns",))
    check_unchanged(source, files)
    return plan


def _check_places(source: str, table: str) -> None:
    places = identity(source), identity(table)
    if lies_in(*places) or lies_in(*reversed(places)):
        raise ConfigError(
            "The new table and its source may not lie in each other",
            found=f"{table} and {source}",
            fix="choose a base path of its own",
        )
