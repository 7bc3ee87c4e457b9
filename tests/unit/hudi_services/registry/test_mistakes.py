"""Entries with mistakes: which table of a server each is about."""

from __future__ import annotations

import subprocess

import pytest

from hoodie.errors import RegistryError
from hudi_services.registry.database_tables import registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.registry.mistakes import LeftOut, as_error, left_out, lines_of


def test_sources_are_named_as_far_as_they_can_be_read():
    entries = [
        {"name": "a", "base_path": "/a", "source": {"server": "shop", "table": "shop.a"}},
        {"name": 5, "source": {"server": "shop", "tabel": "shop.b"}},
        {"name": "c", "source": {"server": "events", "topic": "c"}},
        {"name": "d", "source": {"path": "/files"}},
        {"name": "e", "source": "shop.e"},
        "f",
    ]
    assert list(left_out(entries)) == [LeftOut("a", "/a", "shop", "shop.a"), LeftOut("", "", "shop", "")]


def test_a_reading_says_which_tables_it_left_out(tmp_path):
    (tmp_path / "tables.yaml").write_text(
        "servers: {shop: {type: mysql, connection: shop, server_id: 1}}\n"
        "defaults: {source: {server: shop}}\n"
        "tables:\n"
        "  - {name: a, base_path: /a, source: {table: shop.a}, tipe: x}\n"
        "  - {name: b, base_path: /b, source: {table: shop.b}}\n"
    )
    reading = read_registry(tmp_path / "tables.yaml")
    assert reading.left_out == (LeftOut("a", "/a", "shop", "shop.a"),)
    assert [table.name for table in reading.registry.tables] == ["b"]


@pytest.mark.parametrize("server", ["server: shop, ", ""])
def test_a_rule_with_a_mistake_stops_the_loads_of_its_server(tmp_path, server):
    """The rule below it would take its tables, to another folder."""
    (tmp_path / "tables.yaml").write_text(
        "servers:\n"
        "  shop: {type: mysql, connection: shop, server_id: 1, state: STATE}\n"
        "  other: {type: mysql, connection: other, server_id: 2, state: STATE}\n".replace(
            "STATE", str(tmp_path / "state")
        )
        + "databases:\n"
        f"  - {{{server}database: shop, tables: 'orders', base_path: '/a/{{table}}', tabels: x}}\n"
        "  - {server: shop, database: shop, tables: '.*', base_path: '/b/{table}'}\n"
    )
    reading = read_registry(tmp_path / "tables.yaml")
    with pytest.raises(RegistryError, match=r"databases\.0\.tabels"):
        registered_sync("shop", reading, {})
    assert [rule.base_path for rule in registered_sync("shop", reading, {}, wrong_rules=True).rules] == ["/b/{table}"]
    if server:
        assert registered_sync("other", reading, {}).rules == ()


def test_a_mistake_of_a_shared_section_is_one_line(tmp_path):
    tables = "".join(f"  - {{name: {name}, base_path: /{name}}}\n" for name in "abcde")
    (tmp_path / "tables.yaml").write_text(f"defaults:\n  clean: {{schedule: nonsense}}\ntables:\n{tables}")
    reading = read_registry(tmp_path / "tables.yaml")
    assert len(reading.mistakes) == 5
    (line,) = lines_of(reading.mistakes)
    assert line.startswith(f"{tmp_path}/tables.yaml:2: clean.schedule: ")
    assert line.endswith(" (of 5 tables: a, b, c and 2 more)")
    assert str(as_error("tables.yaml", reading.mistakes)).startswith("1 mistake in the registry tables.yaml")
    (tmp_path / "tables.yaml").write_text("tables:\n  - {name: a, base_path: /a, tipe: x}\n")
    reading = read_registry(tmp_path / "tables.yaml")
    assert lines_of(reading.mistakes) == [str(mistake) for mistake in reading.mistakes]


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("tables: []\n# größe\n".encode("cp1252"), 2, "byte 0xF6, number 5 of the line, which is 'ö' in cp1252"),
        ("tables: []\n".encode("utf-16"), 1, "byte 0xFF, number 1 of the line, which begins text in UTF-16"),
    ],
)
def test_a_registry_that_is_not_utf_8_names_the_byte(tmp_path, data, line, words):
    file = tmp_path / "tables.yaml"
    file.write_bytes(data)
    (mistake,) = read_registry(file).mistakes
    assert mistake.line == line
    assert mistake.message.startswith(f"is not UTF-8: {words}; save it as UTF-8, or convert it: `iconv -f ")
    command = mistake.message.rpartition("convert it: `")[2].rstrip("`")
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert read_registry(tmp_path / "utf8.yaml").mistakes == ()
