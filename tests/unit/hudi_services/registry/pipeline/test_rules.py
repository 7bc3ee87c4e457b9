"""Tables of a pipeline by names, routes and transforms: each goes to one place."""

from __future__ import annotations


def test_tables_go_below_the_folder_of_the_sink_by_their_names(read, paths, pipeline):
    reading = read(pipeline(r"adb.\.*, bdb.user_table_[0-9]+, [app|web].order_\.*"))
    names = [
        "adb.a",
        "ADB.B",
        "bdb.user_table_12",
        "a.order_1",
        "adbx.a",
        "bdb.user_table_x",
        "bdb.xuser_table_1",
        "app.order_1",
    ]
    taken, _ = paths(reading, *names)
    assert taken == {name: f"/lake/{name.replace('.', '/')}" for name in names[:4]}
    [rule] = reading.rules
    assert (rule.server, rule.type, rule.merge) == ("shop", "MERGE_ON_READ", False)
    assert rule.statements.model_dump() == {"truncate": "ignore", "drop": "ignore", "rename": "stop", "alter": "apply"}
    source = reading.source
    assert (source.hostname, source.port, source.number("shop"), source.tls) == ("127.0.0.1", 3306, 5401, "verify")
    assert "pa55" not in repr(reading)
    assert [str(note).partition(": ")[2] for note in reading.notes] == [
        "pipeline.parallelism: is about the job in Flink"
    ]
    reading = read(pipeline(r"db.\.*" + "\n  tables.exclude: db.o\\.*, DB.U"))
    assert paths(reading, "db.t", "db.orders", "db.u", "db.ux")[0] == {"db.t": "/lake/db/t", "db.ux": "/lake/db/ux"}


def test_a_table_with_two_routes_is_refused_unless_the_first_one_counts(read, paths, pipeline):
    text = pipeline(r"a.\.*")
    routes = r"route: [{source-table: 'a.t\.*', sink-table: x.t}, {source-table: 'a.\.*', sink-table: y.<>, replace-symbol: <>}]"
    assert paths(read(f"{text}\n{routes}"), "a.t1", "a.u")[0] == {"a.t1": "clash", "a.u": "/lake/y/u"}
    first = text.replace("parallelism: 4", "route-mode: FIRST_MATCH")
    taken, result = paths(read(f"{first}\n{routes}"), "a.t1", "a.u")
    assert (taken, result.unmatched) == ({"a.t1": "/lake/x/t", "a.u": "/lake/y/u"}, ())
