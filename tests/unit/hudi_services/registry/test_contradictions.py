"""Parts of an entry that do not go together: keys that the declared columns of its source lack."""

from __future__ import annotations

import pytest

from hudi_services.registry.load import read_registry


def mistakes(folder, keys, source):
    path = folder / "tables.yaml"
    path.write_text(
        f"tables:\n  - name: a\n    base_path: /a\n    keys: {keys}\n    source: {{path: /in, format: csv, {source}}}\n"
    )
    return [(mistake.line, mistake.key, mistake.message) for mistake in read_registry(path).mistakes]


@pytest.mark.parametrize(
    ("keys", "key", "column"),
    [
        ("{record_key: [id]}", "record_key", "id"),
        ("{record_key: [idd], partition_by: [day]}", "partition_by", "day"),
        ("{record_key: [idd], ordering: [ts.time]}", "ordering", "ts.time"),
    ],
)
def test_a_key_that_is_not_declared_is_a_mistake(tmp_path, keys, key, column):
    [(line, where, message)] = mistakes(tmp_path, keys, "schema: {idd: bigint}")
    assert (line, where) == (4, f"a.keys.{key}")
    assert message.startswith(
        f"{column} is not a column of the source: declare it in `schema`, or name one that is there"
    )
    assert message.endswith(", such as idd")


@pytest.mark.parametrize(
    "source",
    [
        "schema: {idd: bigint}, rename: {idd: id}",
        "schema: {id: bigint}",
        "schema: {idd: bigint}, undeclared: keep",
        "schema: {idd: bigint}, sql: SELECT idd AS id FROM batch",
        "schema: {id: bigint}, operation: delete",
        "undeclared: refuse",
    ],
)
def test_a_key_that_the_source_may_have_is_no_mistake(tmp_path, source):
    more = ", ordering: [ts]" if "delete" in source else ""
    assert mistakes(tmp_path, f"{{record_key: [id]{more}}}", source) == []


def test_an_old_name_is_no_column_of_the_table(tmp_path):
    assert mistakes(tmp_path, "{record_key: [idd]}", "schema: {idd: bigint}, rename: {idd: id}") != []


@pytest.mark.parametrize("date", ["2026-02-30", "2026-13-01", "2026-11-31 10:00:00"])
def test_a_date_that_no_calendar_has_is_named_beside_the_other_mistakes(tmp_path, date):
    (tmp_path / "tables.yaml").write_text(
        f"tables:\n  - name: a\n    base_path: /a\n    ingest: {{start: {date}}}\n    clena: {{}}\n"
    )
    found = [
        (mistake.line, mistake.key, mistake.message) for mistake in read_registry(tmp_path / "tables.yaml").mistakes
    ]
    assert any(
        (line, key) == (4, "a.ingest.start") and message.startswith(f"{date} cannot be read: ")
        for line, key, message in found
    )
    assert any((line, key) == (5, "a.clena") for line, key, _ in found)
