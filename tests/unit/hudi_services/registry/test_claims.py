"""Two tables with one name or place, found also where a command looks at one of them alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hoodie.errors import RegistryError
from hudi_services.registry.claims import Claims, Conflict
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import table_named


def registry(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "tables.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("/lake/a", "/lake/a", "is also the base_path of 'a' on line 3"),
        ("/lake/a", "/lake/x/../a/", "is also the base_path of 'a' on line 3"),
        ("/lake/a", "/lake/a/b", "lies inside the base_path of 'a' on line 3"),
        ("/lake/a/b", "/lake/a", "has inside it the base_path of 'a' on line 3"),
        ("${LAKE}/a", "/lake/a", "is also the base_path of 'a' on line 3"),
        ("s3a://lake/a", "s3://lake/a", "is also the base_path of 'a' on line 3"),
    ],
)
def test_a_table_at_the_place_of_another_is_refused_when_it_alone_is_named(
    tmp_path: Path, first: str, second: str, message: str
) -> None:
    """A load of it would write its rows into the other table."""
    text = f"tables:\n- name: a\n  base_path: {first}\n- name: b\n  base_path: {second}\n"
    with pytest.raises(RegistryError, match=message):
        table_named("b", registry(tmp_path, text), environ={"LAKE": "/lake"})


def test_the_first_of_two_tables_at_one_place_is_used(tmp_path: Path) -> None:
    file = registry(tmp_path, "tables:\n- {name: a, base_path: /lake/a}\n- {name: b, base_path: /lake/a}\n")
    assert table_named("a", file).base_path == "/lake/a"


def test_a_place_of_the_defaults_is_that_of_all_tables(tmp_path: Path) -> None:
    file = registry(tmp_path, "defaults: {base_path: /lake/a}\ntables:\n- {name: a}\n- {name: b}\n")
    with pytest.raises(RegistryError, match="is also the base_path of 'a'"):
        table_named("b", file)


def test_a_place_with_a_variable_that_is_not_set_is_in_nobodys_way(tmp_path: Path) -> None:
    file = registry(tmp_path, "tables:\n- {name: a, base_path: '${LAKE}'}\n- {name: b, base_path: /lake/a}\n")
    assert table_named("b", file, environ={}).name == "b"


def test_a_name_that_two_entries_have_is_refused(tmp_path: Path) -> None:
    """They may differ in what they retain, and no reader can say which of them was meant."""
    text = "tables:\n- {name: a, base_path: /lake/a}\n- {name: a, base_path: /lake/b}\n"
    with pytest.raises(RegistryError, match="'a' is also the name of 'a' on line 2"):
        table_named("a", registry(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "defaults:\n  clean: {schedule: '@daily'}\n  clean: {schedule: '@hourly'}\n",
        "defaults: {engine: local}\ndefaults: {engine: spark}\n",
        "defaults: {clean: {hoodie: {hoodie.clean.commits.retained: 010}}}\n",
        "objectives: {freshness: 1h}\nobjectives: {freshness: 2h}\n",
    ],
)
def test_what_is_unclear_for_all_tables_keeps_them_out(tmp_path: Path, text: str) -> None:
    file = registry(tmp_path, text + "tables:\n- {name: a, base_path: /lake/a}\n")
    assert read_registry(file).registry.tables == ()
    with pytest.raises(RegistryError, match="in what holds for all tables"):
        table_named("a", file)


def test_a_server_with_a_key_that_is_given_twice_is_left_out(tmp_path: Path) -> None:
    text = "servers:\n  shop: {type: kafka, connection: a, connection: b}\n"
    reading = read_registry(registry(tmp_path, text))
    assert (dict(reading.registry.servers), [mistake.key for mistake in reading.mistakes]) == (
        {},
        ["servers.shop.connection"],
    )


def test_claims_name_each_table_in_the_way() -> None:
    claims = Claims()
    for position, place in enumerate(("/lake/a", "/lake/b/c")):
        assert list(claims.conflicts(position, "base_path", place)) == []
    assert list(claims.conflicts(2, "base_path", "/lake")) == [Conflict(0, "has inside it")]
    assert list(claims.conflicts(3, "base_path", "/lake/b/c/d")) == [Conflict(2, "lies inside")]
    assert list(claims.conflicts(4, "base_path", None)) == []
