"""Every type of MariaDB at its edges: the value in the binlog is the value that was written."""

from __future__ import annotations

import pytest

from tests.support.binlog import log_end, logged, rows_of
from tests.support.mariadb import only_mariadb
from tests.support.mysql_types import TYPES

pytestmark = pytest.mark.process


@only_mariadb
def test_each_type_keeps_its_edges_and_nulls(server):
    columns = [f"c{number}" for number in range(len(TYPES))]
    declared = ", ".join(f"{name} {kind}" for name, (kind, _, _) in zip(columns, TYPES, strict=True))
    server.run("CREATE DATABASE edges", f"CREATE TABLE edges.t (id INT PRIMARY KEY AUTO_INCREMENT, {declared})")
    start = log_end(server)
    inserts, expected = ["INSERT INTO edges.t (id) VALUES (NULL)"], [dict.fromkeys(columns)]
    for row in range(max(len(values) for _, _, values in TYPES)):
        chosen = {name: values[row] for name, (_, _, values) in zip(columns, TYPES, strict=True) if row < len(values)}
        texts = ", ".join(text for text, _ in chosen.values())
        inserts.append(f"INSERT INTO edges.t ({', '.join(chosen)}) VALUES ({texts})")
        expected.append({name: chosen[name][1] if name in chosen else None for name in columns})
    server.run("SET SESSION sql_mode = '', time_zone = '+00:00'", *inserts)
    parts = logged(server, start)
    schema = parts[0].shape.schema
    assert [schema.field(name).type for name in columns] == [kind for _, kind, _ in TYPES]
    rows = rows_of(parts)
    wrong = [
        (TYPES[number][0], row[name], right[name])
        for row, right in zip(rows, expected, strict=True)
        for number, name in enumerate(columns)
        if row[name] != right[name]
    ]
    assert wrong == []


@only_mariadb
def test_generated_and_invisible_columns_are_columns(server):
    server.run(
        "CREATE DATABASE generated",
        "CREATE TABLE generated.t (id INT PRIMARY KEY, a INT, "
        "s INT AS (a + 1) STORED, v INT AS (a + 2) VIRTUAL, h INT INVISIBLE DEFAULT 7)",
    )
    start = log_end(server)
    server.run("INSERT INTO generated.t (id, a) VALUES (1, 10)")
    assert rows_of(logged(server, start)) == [{"id": 1, "a": 10, "s": 11, "v": 12, "h": 7}]


def test_geometry_is_its_bytes(server):
    server.run("CREATE DATABASE odd", "CREATE TABLE odd.g (id INT PRIMARY KEY, p GEOMETRY)")
    start = log_end(server)
    server.run("INSERT INTO odd.g VALUES (1, ST_GeomFromText('POINT(1 2)', 4326)), (2, NULL)")
    first, second = rows_of(logged(server, start))
    assert first["p"][:4] == (4326).to_bytes(4, "little")
    assert second["p"] is None
