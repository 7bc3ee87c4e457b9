"""The newest cut at or before a moment, which users write in four ways."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.databases.source_moment import cut_at, source_moment


def cut(number, position, gtid, minute, server=5):
    return Cut(
        number,
        position,
        f"server {server}, transactions {gtid}, file of 17",
        f"2026-01-31T12:{minute:02}:00.000000+00:00",
    )


CUTS = [
    cut(4, "bin.000001:50", "0-6-40,1-2-9", 40, server=6),
    cut(3, "bin.1000000:4", "0-5-30,1-2-9", 30),
    cut(2, "bin.999999:90", "0-5-20", 20),
]


def test_a_moment_between_two_cuts_takes_the_earlier_one():
    for text, number in (
        ("cut 3", 3),
        ("CUT  2", 2),
        ("2026-01-31 12:20:00", 2),
        ("2026-01-31T13:39:59+01:00", 3),
        ("2026-01-31T12:40", 4),
        ("2027-01-01", 4),
        ("0-5-20", 2),
        ("0-5-35", 2),  # without a transaction of domain 1
        ("0-5-35, 1-2-9", 3),
        ("0-6-99,1-2-10", 4),
        ("bin.000001:50", 4),
        ("bin.000002:4", 4),
    ):
        assert cut_at(source_moment(text), "shop", CUTS).number == number, text
    for text, number in (("bin.1000000:3", 2), ("bin.999999:90", 2), ("bin.1000000:4", 3)):
        assert cut_at(source_moment(text), "shop", CUTS[1:]).number == number, text


def test_a_log_that_was_reset_hides_cuts_of_the_one_before():
    cuts = [
        cut(3, "bin.000001:50", "0-5-9", 40),
        cut(2, "bin.000009:4", "0-5-99", 30),
        cut(1, "bin.000001:10", "0-5-2", 20),
    ]
    for text in ("bin.000001:49", "0-5-8"):
        with pytest.raises(SqlError, match="the oldest is cut 3"):
            cut_at(source_moment(text), "shop", cuts)
    assert cut_at(source_moment("2026-01-31 12:25:00"), "shop", cuts).number == 1


def test_moments_without_a_cut_are_refused_by_name():
    mysql = Cut(1, "bin.000001:4", "server 3e11-71ca, file of 17", "2026-01-31T12:00:00+00:00")
    for text, cuts, words in (
        ("cut 1", CUTS, "No cut of the server shop is that old. Found: the oldest is cut 2 at bin.999999:90, 0-5-20"),
        ("cut 5", CUTS, "has no cut 5. Found: the newest is cut 4"),
        ("2026-01-31 12:19:59", CUTS, "the oldest is cut 2"),
        ("0-5-19", CUTS, "the oldest is cut 2"),
        ("bin.000001:49", CUTS, "the oldest is cut 4"),  # earlier cuts are of the log of another server
        ("0-5-19", [mysql], "A cut has no GTID"),
        ("cut 1", [], "has no cut yet"),
        ("yesterday", CUTS, "not a moment of a database server"),
        ("cut one", CUTS, "not a moment of a database server"),
    ):
        with pytest.raises(SqlError) as error:
            cut_at(source_moment(text), "shop", cuts)
        assert words in str(error.value), text


def test_transactions_of_mysql_with_tags():
    server = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    cuts = [cut(2, "bin.000001:90", f"{server}:1-9:backup:1-4", 20), cut(1, "bin.000001:50", f"{server}:1-9", 10)]
    for gtids, number in (
        (f"{server}:1-9:backup:1-4", 2),
        (f"{server}:1-12:backup:1-7", 2),
        (f"{server.upper()}:backup:1-4, {server}:1-9", 2),
        (f"{server}:1-9:backup:1-3", 1),
        (f"{server}:1-9", 1),
        (f"{server}:1-30:other:4", 1),
    ):
        assert cut_at(source_moment(gtids), "shop", cuts).number == number, gtids
    for gtids in (f"{server}:1-8:backup:1-9", f"{server}:backup:1-9"):
        with pytest.raises(SqlError, match="the oldest is cut 1"):
            cut_at(source_moment(gtids), "shop", cuts)
