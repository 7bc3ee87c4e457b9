"""Small transactions that are decoded together have the changes that they have one by one."""

from __future__ import annotations

import random

import pytest

from hudi_services.sources.cdc.mysql.binlog import transaction_batch
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets, events
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement, transactions
from tests.support.binlog import SERVER_ID, connect, log_end

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def log(server):
    """The events of random transactions of two tables, one of which changes its columns, and the character sets."""
    draw = random.Random(8)
    server.run(
        "CREATE DATABASE batches", *(f"CREATE TABLE batches.{name} (id INT PRIMARY KEY, v TEXT)" for name in "tu")
    )
    start = log_end(server)
    for number in range(60):
        table = draw.choice("tu")
        keys = draw.sample(range(20), draw.randrange(1, 5))
        server.run(
            "USE batches",
            "BEGIN",
            *(f"REPLACE INTO {table} (id, v) VALUES ({key}, 'v{number}')" for key in keys),
            f"DELETE FROM {draw.choice('tu')} WHERE id = {draw.randrange(20)}",
            "COMMIT",
            *(["ALTER TABLE t ADD w INT DEFAULT 5"] if number == 30 else ()),
        )
    with connect(server) as connection:
        charsets = collation_charsets(connection)
        return list(events(connection, SERVER_ID, start, wait=False)), charsets


def read(log, cuts=None):
    found, charsets = log
    return list(transactions(iter(found), charsets, lambda database, table: True, mariadb=True, cuts=cuts))


def rows(parts):
    """For each table and its columns all changes in order, the place of the last of them, and what else was read."""
    changes, others = {}, []
    for part in parts:
        if isinstance(part, Changes):
            values = part.changes.drop_columns(["number"]).to_pylist()
            key = (part.shape.table, *part.shape.schema.names)
            changes[key] = (changes.get(key, ([],))[0] + values, part.position)
        else:
            others.append(part)
    return changes, others


def test_changes_are_those_of_each_transaction_in_fewer_parts(log):
    alone, together = read(log), read(log, cuts=())
    assert rows(together) == rows(alone)
    assert (len([part for part in together if isinstance(part, Changes)]), len(alone) > 60) == (4, True)
    place = next(index for index, part in enumerate(together) if isinstance(part, Statement))
    assert all(part.position < together[place].position for part in together[:place])
    numbers = [part.changes["number"].to_pylist() for part in together if isinstance(part, Changes)]
    assert all(sorted(places) == places for places in numbers)


def test_no_part_goes_across_a_place_that_was_named(log):
    positions = [part.position for part in read(log) if isinstance(part, Changes)]
    cut = positions[len(positions) // 4]
    together = read(log, cuts={cut})
    assert rows(together) == rows(read(log))
    before = [part for part in together if part.position <= cut]
    assert rows(before) == rows([part for part in read(log) if part.position <= cut])


def test_a_part_is_not_large(log, monkeypatch):
    monkeypatch.setattr(transaction_batch, "_BYTES", 2_000)
    together = read(log, cuts=())
    assert rows(together) == rows(read(log))
    assert len(together) > 6


def test_changes_that_cannot_be_read_stop_only_those_of_their_table(log):
    found, charsets = log
    ends = [place for place, (_, event) in enumerate(found) if event.kind is Kind.XID]
    wrong = next(
        place
        for place in range(ends[10], len(found))
        if found[place][1].kind in (Kind.WRITE_ROWS_V1, Kind.WRITE_ROWS) and found[place][1].body[-1]
    )
    position, event = found[wrong]
    cut_off = (position, Event(event.seconds, event.kind, event.end, event.body[:-1]))
    broken = [*found[:wrong], cut_off, *found[wrong + 1 :]], charsets
    alone, together = read(broken), read(broken, cuts=())
    assert rows(together) == rows(alone)
    assert len([part for part in alone if isinstance(part, Unreadable)]) == 1


def test_a_statement_about_one_table_ends_no_part_of_another(server):
    server.run("CREATE DATABASE parts", *(f"CREATE TABLE parts.{name} (id INT PRIMARY KEY)" for name in ("t", "u")))
    start = log_end(server)
    statements = (
        "ALTER TABLE u ADD a INT",
        "INSERT INTO u (id) VALUES (1)",
        "/*!50000 ALTER TABLE parts.`u` ADD b INT */",
        "ALTER TABLE `t` ADD c INT",
        "ALTER TABLE u ADD é INT",
        "TRUNCATE u",
    )
    server.run(
        "USE parts",
        *(text for key, alter in enumerate(statements) for text in (f"INSERT INTO t (id) VALUES ({key})", alter)),
        "INSERT INTO t (id) VALUES (7), (8)",
    )
    with connect(server) as connection:
        charsets = collation_charsets(connection)
        log = list(events(connection, SERVER_ID, start, wait=False)), charsets
    together = read(log, cuts=())
    assert rows(together) == rows(read(log))
    shown = [
        part.text if isinstance(part, Statement) else (part.shape.table, part.changes.num_rows) for part in together
    ]
    assert shown == [
        "ALTER TABLE u ADD a INT",
        ("t", 3),
        ("u", 1),
        "/*!50000 ALTER TABLE parts.`u` ADD b INT */",
        ("t", 1),
        "ALTER TABLE `t` ADD c INT",
        ("t", 1),
        "ALTER TABLE u ADD é INT",
        ("t", 1),
        "TRUNCATE u",
        ("t", 2),
    ]
