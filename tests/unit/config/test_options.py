"""Options are resolved once, where a call begins, and say where their values are from."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.config.groups import CLEAN_OPTIONS, WRITE_OPTIONS
from hoodie.config.key import PlacedText
from hoodie.config.keys.clean import COMMITS_RETAINED, POLICY
from hoodie.config.keys.table import ORDERING_FIELDS
from hoodie.config.options import options_for
from hoodie.errors import ConfigError
from hoodie.schema.changes import AddColumn
from tests.support.resolved import resolved
from tests.support.tables import SMALL_BLOOM, batch, create

LIMIT = 3  # times that the options of one call may be resolved


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_call_resolves_its_options_at_most_three_times(tmp_path, kind):
    """That holds with the services after a write too: here a clean, an archival and a compaction."""
    table = create(tmp_path / "t", **{"hoodie.datasource.write.table.type": kind})
    rows = batch([("a", "p", 1, 10), ("b", "q", 1, 10)])
    options = {**SMALL_BLOOM, "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    calls = {
        "write": lambda: table.write(rows, "upsert", options),
        "write of a stream": lambda: table.write(rows.to_reader(), "bulk_insert", options),
        "alter": lambda: table.alter([AddColumn("more", pa.int64())], options),
        "drop": lambda: table.delete_partitions(["part=q"], options),
        "truncate": lambda: table.truncate(options),
        "clean": lambda: table.run(CLEAN, {COMMITS_RETAINED.name: 1}),
        "explain": lambda: table.explain(CLEAN, {COMMITS_RETAINED.name: 1}),
        "schedule": lambda: table.schedule(COMPACTION, force=True) if kind == "MERGE_ON_READ" else None,
    }
    counts = {name: resolved(call) for name, call in calls.items()}
    assert {name: count for name, count in counts.items() if count > LIMIT} == {}
    assert counts["write"] == 2, "those that ask for services, then all"
    assert counts["clean"] == counts["explain"] == 1


def test_resolved_options_are_taken_as_they_are(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 10)]), options=SMALL_BLOOM)
    options = options_for({COMMITS_RETAINED.name: "7"}, CLEAN_OPTIONS)
    assert resolved(lambda: table.explain(CLEAN, options)) == 0
    assert table.explain(CLEAN, options).as_dict("clean") == table.explain(CLEAN, {COMMITS_RETAINED.name: 7}).as_dict(
        "clean"
    )


def test_a_value_says_where_it_is_from():
    options = options_for(
        {COMMITS_RETAINED.name: 3, "hoodie.datasource.write.precombine.field": "ts"}, CLEAN_OPTIONS, WRITE_OPTIONS
    )
    assert options.origin(COMMITS_RETAINED) == COMMITS_RETAINED.name
    assert options.origin(ORDERING_FIELDS) == "hoodie.datasource.write.precombine.field"
    assert options.origin(POLICY) == "default"
    assert options.among([COMMITS_RETAINED]).origin(ORDERING_FIELDS) == "default"
    assert options.with_value(COMMITS_RETAINED, 4)[COMMITS_RETAINED] == 4
    assert options[COMMITS_RETAINED] == 3, "options do not change"


def test_a_call_without_options_has_the_defaults():
    options = options_for(None, CLEAN_OPTIONS)
    assert options[COMMITS_RETAINED] == COMMITS_RETAINED.default
    assert not options.is_set(COMMITS_RETAINED)


def test_a_mistake_names_the_option_and_its_value(tmp_path):
    table = HoodieTable.create(tmp_path / "t", {"hoodie.table.name": "t"})
    for work in (
        lambda bad: table.write(batch([("a", "p", 1, 10)]), "insert", bad),
        lambda bad: table.run(CLEAN, bad),
        lambda bad: table.truncate(bad),
    ):
        with pytest.raises(ConfigError, match=r"'hoodie\.clean(er)?\.commits\.retained' has a value.*'few'"):
            work({COMMITS_RETAINED.name: "few"})
    assert not table.timeline.commits


def test_a_value_and_a_mistake_say_in_which_file_they_are():
    """Copies of the mapping, as commands make them, keep the place. So does a task that goes to another process."""
    name = COMMITS_RETAINED.name
    given = pickle.loads(pickle.dumps({name: PlacedText("3", "/etc/clean.properties")}))
    assert given == {name: "3"}
    options = options_for(given, CLEAN_OPTIONS)
    assert options[COMMITS_RETAINED] == 3
    assert options.origin(COMMITS_RETAINED) == f"{name} in /etc/clean.properties"
    with pytest.raises(ConfigError, match=r"retained' has a value it cannot have.*'few' in a\.properties"):
        options_for({name: PlacedText("few", "a.properties")}, CLEAN_OPTIONS)
    older = "hoodie.cleaner.commits.retained"
    assert older in COMMITS_RETAINED.names
    with pytest.raises(ConfigError, match=r"3 in a\.properties and 4 in --hoodie-conf"):
        options_for({name: PlacedText("3", "a.properties"), older: PlacedText("4", "--hoodie-conf")}, CLEAN_OPTIONS)
