"""Options of the sink, and what happens when tables change."""

from __future__ import annotations


def test_options_of_the_sink_and_of_changes_of_tables_are_kept(read, paths, pipeline):
    text = pipeline("a.b\n  scan.parse.online.schema.changes.enabled: true\n  jdbc.properties.useSSL: 'false'")
    more = "  hoodie.table.type: copy_on_write\n  index.type: bucket\n  table.properties.hoodie.x: 5\n"
    reading = read(
        text.replace("path: /lake/\n", f"path: '${{LAKE}}/w'\n{more}").replace("server-id: 5401-5404", ""),
        {"LAKE": "/l"},
    )
    assert paths(reading, "a.b")[0] == {"a.b": "/l/w/a/b"}
    [rule] = reading.rules
    assert (rule.type, rule.hoodie) == ("COPY_ON_WRITE", {"hoodie.index.type": "BUCKET", "hoodie.x": "5"})
    assert (rule.statements.rename, reading.source.tls) == ("apply", "off")
    assert 1_000_000_000 <= reading.source.number("shop") == reading.source.number("shop") < 2_000_000_000
    evolving = text.replace("parallelism: 4", "schema.change.behavior: evolve")
    assert read(evolving).rules[0].statements.truncate == "apply"
    kept = evolving.replace("path: /lake/", "path: /lake/\n  exclude.schema.changes: [truncate]")
    assert read(kept).rules[0].statements.model_dump() == {
        "truncate": "ignore",
        "drop": "apply",
        "rename": "apply",
        "alter": "apply",
    }
