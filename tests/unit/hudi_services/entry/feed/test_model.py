"""The declaration of a feed, and the command's arguments for it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hoodie.errors import ConfigError
from hudi_services.entry.feed.flag import feed_flag
from hudi_services.entry.feed.model import Column, Feed
from hudi_services.entry.source import FolderSource
from hudi_services.registry.load import read_registry
from hudi_services.sources.ingest.feed_argument import read_feed

SAID: dict[str, Any] = {
    "csv": {"delimiter": ";", "decimal_mark": ",", "header": ["id", "amount"]},
    "pattern": "orders_*.csv",
    "min_age": "5m",
    "schema": {"id": "string", "amount": {"type": "decimal(10,2)", "nullable": False, "default": 0.5}},
    "undeclared": "keep",
    "quarantine": {"files": "skip"},
    "rename": {"id": "order_id"},
    "timestamps": {"*": ["%d.%m.%Y"], "at": {"formats": "%Y%m%d", "zone": "Europe/Berlin"}},
    "sql": "select '{{ }}' as x from batch",
}


def test_what_is_short_and_what_is_long_mean_the_same() -> None:
    feed = Feed.model_validate(SAID)
    assert feed.pattern == ("orders_*.csv",)
    assert feed.min_age == timedelta(minutes=5)
    assert feed.columns == {
        "id": Column(type="string"),
        "amount": Column(type="decimal(10,2)", nullable=False, default="0.5"),
    }
    assert feed.timestamps["*"].formats == ("%d.%m.%Y",)
    assert feed.csv.header == ("id", "amount")


def test_the_flag_gives_the_feed_back_and_has_no_two_braces() -> None:
    source = FolderSource.model_validate({"path": "/x", "format": "csv", **SAID})
    flag, said = feed_flag(source.feed)
    assert (flag, read_feed(said, "csv")) == ("--feed", Feed.model_validate(SAID))
    assert not {"{{", "}}", "{%", "{#"} & {said[n : n + 2] for n in range(len(said))}


def test_defaults_need_no_flag() -> None:
    assert feed_flag(FolderSource(path="/x", format="csv").feed) == []
    assert read_feed(None, "csv") == Feed()


texts = st.text(min_size=1, max_size=8)


@given(st.dictionaries(texts, texts, max_size=3), texts, st.sampled_from([";", "|", "\t", "{", "}"]))
def test_any_names_and_any_sql_travel(rename: dict[str, str], sql: str, delimiter: str) -> None:
    feed = Feed.model_validate({"rename": rename, "sql": sql, "csv": {"delimiter": delimiter}})
    assert read_feed(feed_flag(feed)[1], "csv") == feed


def test_a_file_of_yaml_or_json(tmp_path: Path) -> None:
    (tmp_path / "feed.yaml").write_text("csv:\n  delimiter: ';'\nschema: {no: string}\n")
    (tmp_path / "feed.json").write_text(json.dumps({"csv": {"delimiter": ";"}, "schema": {"no": "string"}}))
    expected = Feed.model_validate({"csv": {"delimiter": ";"}, "schema": {"no": "string"}})
    assert read_feed(f"@{tmp_path}/feed.yaml", "csv") == expected
    assert read_feed(f"{tmp_path}/feed.json", "csv") == expected


WRONG = {
    "{csv: {delimiter: ';;'}}": "csv.delimiter: ';;' must be one ASCII character, and no line break",
    '{csv: {delimiter: "\\n"}}': "csv.delimiter: '\\n' must be one ASCII character, and no line break",
    "{csv: {delimeter: ';'}}": "csv.delimeter: is not an option; did you mean 'delimiter'?",
    "{csv: {encoding: hex}}": "csv.encoding: 'hex' is no encoding; known are utf-8, latin-1, cp1252, utf-16 and others of Python",
    "{csv: {header: 3}}": "csv.header: must be true, false, or a list of the names of all columns (found 3)",
    "{csv: {header: [a, a]}}": "csv.header: names the column 'a' twice",
    "{csv: {header: false}}": "csv.header: is false, so nothing names the columns: declare them in `schema`, or give a list "
    "of names",
    "{csv: {quote: ','}}": "csv.quote: cannot be ',': that is the delimiter",
    "{csv: {decimal_mark: ',', thousands_mark: ','}}": "csv.thousands_mark: cannot be ',': that is the decimal mark",
    "{csv: {comment: '\"'}}": "csv.comment: cannot begin with '\"': so do rows",
    "{min_age: 99999999999d}": "min_age: '99999999999d' is not a duration; write 30s, 5m, 2h or 1d",
    "{json: {layout: array}}": "json: has no effect on csv files",
    "{schema: {a: strng}}": "schema.a.type: the type 'strng' cannot be read: 'strng' is no type of a table; use string",
    "{schema: {a: {type: int, nulable: true}}}": "schema.a.nulable: is not an option; did you mean 'nullable'?",
    "{schema: {a: {type: string, default: x}}, cast: {a: int}}": "schema.a.default: is no value of what `cast` or `timestamps` "
    "makes; say in `sql` coalesce(…)",
    "{schema: {a: 'array<int>'}}": "schema.a: cannot be array<int>: a value of a CSV file is a plain one",
    "{schema: {a: {nullable: true}}}": "schema.a.type: is missing",
    "{schema: {a: {type: string, default: 1.10}}}": "schema.a: the default of a text column must be in quotes "
    "(YAML reads 1.1)",
    "{schema: {a: {type: string, default: no}}}": "schema.a: the default of a text column must be in quotes "
    "(YAML reads False)",
    "{schema: {a: {type: int, default: 012}}}": "schema.a.default: 012 means 10 in YAML: write that, or '012' in quotes",
    "{csv: {skip_rows: 1_000}}": "csv.skip_rows: 1_000 means 1000 in YAML: write that, or '1_000' in quotes",
    "{min_age: 30}": "min_age: 30 has no unit; write 30s, 5m, 2h or 1d",
    "{cast: {a: strng}}": "cast.a: the type 'strng' cannot be read: 'strng' is no type of a table; use string",
    "{min_age: 5 fortnights}": "min_age: '5 fortnights' is not a duration; write 30s, 5m, 2h or 1d",
    "{pattern: ../*}": "pattern.0: '../*' must be a pattern of paths inside the source folder, such as orders_*.csv or */new/**",
    "{undeclared: drop}": "undeclared: has no effect without a schema",
    "{timestamps: {at: {zone: Mars/Phobos}}}": "timestamps.at.zone: 'Mars/Phobos' is not a time zone; "
    "write UTC, or a place such as "
    "Europe/Berlin",
    "{quarantine: {files: drop}}": "quarantine.files: input should be 'stop' or 'skip' (found 'drop')",
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_shown_with_line_and_key(tmp_path: Path, text: str) -> None:
    """The same in the registry, and in a file that the command is given."""
    (tmp_path / "feed.yaml").write_text(f"# ours\n{text}\n")
    with pytest.raises(ConfigError) as raised:
        read_feed(f"{tmp_path}/feed.yaml", "csv")
    assert raised.value.found == f"{tmp_path}/feed.yaml:2: {WRONG[text]}"
    inside = text.removeprefix("{").removesuffix("}")
    registry = tmp_path / "tables.yaml"
    registry.write_text(
        "tables:\n  - name: t\n    base_path: /t\n    keys: {record_key: id}\n    source:\n"
        f"      {{path: /x, format: csv,\n      {inside}}}\n"
    )
    mistakes = [str(each) for each in read_registry(registry).mistakes if each.key.startswith("t.source")]
    assert mistakes == [f"{registry}:7: t.source.{WRONG[text]}"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('{"csv": {', "Expecting"),
        ('{"rename": {"a": "b", "a": "c"}}', "'a' is given twice"),
        ("/nowhere/feed.yaml", "No such file"),
        ('{"sql": 3}', "sql: input should be a valid string"),
    ],
)
def test_what_is_no_feed_is_told(said: str, found: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_feed(said, "csv")
    assert found in str(raised.value)


def test_a_feed_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Feed().order = "modified"  # type: ignore[misc]
