"""Contents of a commit that its files do not have."""

from __future__ import annotations

from hoodie.model.commit import SCHEMA_KEY
from hoodie.table import WriteHooks
from tests.support.tables import SMALL_BLOOM, batch, create


def test_extra_metadata_is_the_callers_but_for_the_schema(tmp_path):
    table = create(tmp_path / "t")
    said = {"a": "caller", "b": "caller", SCHEMA_KEY: "caller"}
    hooks = WriteHooks(before_commit=lambda: {"b": "hook", "c": "hook", SCHEMA_KEY: "hook"})
    done = table.write(batch([("k", "p", 1, 1)]), options=SMALL_BLOOM, extra_metadata=said, hooks=hooks)
    extra = dict(table.state().commit_metadata(table.timeline.commits[0]).extra)
    assert extra == done.metadata.extra
    assert "caller" not in extra.pop(SCHEMA_KEY)
    assert extra == {"a": "caller", "b": "hook", "c": "hook"}
    assert table.schema.names == ["id", "part", "ts", "value"]
