"""Answers of the server: timeline, file slices, markers; and to requests that no client should send."""

from __future__ import annotations

import http.client
import json
from urllib.parse import quote

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.markers import Batching, read_markers
from hoodie.markers.server import ServerAddress, SilentServerError, ask, begin_on_server, note_on_server
from hoodie.model.time import Time
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.reconcile import delete_markers
from hudi_services.services.timeline_server.server_thread import listening, served
from hudi_services.services.timeline_server.tables import ServedTable
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create

LATER = "20990101000000000"
FILE = f"p/a-0_0-1-2_{LATER}.parquet"


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    return made


@pytest.fixture
def counted(table):
    return CountingStorage(table.base_path)


@pytest.fixture
def server(table, counted):
    """One that runs by itself."""
    tables = {table.base_path: ServedTable(counted, SystemClock(), Batching(1))}
    with listening("127.0.0.1", 0) as listener, served(tables, "secret", listener):
        yield ServerAddress("127.0.0.1", listener.getsockname()[1], "secret")
    for each in tables.values():
        each.close()


def got(server, place):
    return json.loads(ask(server, "GET", place))


def test_timeline_and_slices_are_looked_at_again_when_the_timeline_moves(server, table, counted):
    place = quote(table.base_path, safe="")
    first = got(server, f"/v1/timeline?table={place}")
    assert [(i["time"], i["action"], i["state"]) for i in first["instants"]] == [
        (table.timeline.commits[0].time, "deltacommit", "COMPLETED")
    ]
    slices = got(server, f"/v1/slices?table={place}")["slices"]
    assert sorted(each["partition"] for each in slices) == ["part=p", "part=q"]
    counted.listed.clear()
    assert got(server, f"/v1/slices?table={place}")["slices"] == slices
    assert [folder for folder in counted.listed if not folder.startswith(".hoodie")] == [], "files are not listed again"
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert len(got(server, f"/v1/timeline?table={place}")["instants"]) == 2
    (changed,) = got(server, f"/v1/slices?table={place}&partition={quote('part=p')}")["slices"]
    assert len(changed["files"]) == 2, "a base file and its log"
    assert all(table.storage.info(file["path"]).size == file["bytes"] for file in changed["files"])


@pytest.mark.parametrize("partition", ["./part=p/", "part=p", "x" * 5000, "x/" * 2500])
def test_a_partition_is_one_however_it_is_named(server, table, partition):
    """A name that no file system takes is that of no partition."""
    place = quote(f"{table.base_path}/./", safe="")
    slices = got(server, f"/v1/slices?table={place}&partition={quote(partition, safe='')}")["slices"]
    assert [each["partition"] for each in slices] == ["part=p"] * ("part" in partition)


@pytest.mark.parametrize("query", ["&partitions=part%3Dp", "&partition=part%3Dp&partition=part%3Dq"])
def test_other_query_parameters_are_refused(server, table, query):
    """Passed over, they would give the slices of other partitions."""
    place = quote(table.base_path, safe="")
    with pytest.raises(SilentServerError, match=r"^400"):
        ask(server, "GET", f"/v1/slices?table={place}{query}")
    with pytest.raises(SilentServerError, match=r"^422"):
        ask(server, "POST", "/v1/begin", {"table": table.base_path, "instant": LATER, "instants": [LATER]})


def noting(table, instant=LATER, marker=f"{FILE}.marker.CREATE"):
    return json.dumps({"table": table, "instant": instant, "marker": marker}).encode()


def posted(server, body, place="/v1/markers"):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("POST", place, body, {"Authorization": "Bearer secret", "Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_markers_of_instants_that_are_being_written(server, table):
    assert posted(server, noting(table.base_path)) == 404, "not on the timeline"
    state = table.state()
    instants.start(state, instants.request(state, Time.of(LATER), Action.DELTA_COMMIT))
    assert posted(server, noting(table.base_path)) == 200
    assert read_markers(table.storage, LATER) == {FILE}
    assert posted(server, noting(table.base_path)) == 200, "a duplicate"


def test_an_instant_that_is_begun_anew(server, table):
    """Its markers are deleted then, so nothing is answered by what was known before."""
    state = table.state()
    with pytest.raises(SilentServerError, match=r"404.*is not being written"):
        begin_on_server(server, table.base_path, Time.of(LATER))
    instants.start(state, instants.request(state, Time.of(LATER), Action.DELTA_COMMIT))
    for _ in range(3):
        begin_on_server(server, table.base_path, Time.of(LATER))
        note_on_server(server, table.base_path, Time.of(LATER), f"{FILE}.marker.CREATE")
        assert read_markers(table.storage, LATER) == {FILE}
        assert table.storage.read(f".hoodie/.temp/{LATER}/MARKERS.type") == b"TIMELINE_SERVER_BASED"
        delete_markers(table.storage, Time.of(LATER))


def test_requests_that_nobody_should_send(server, table, tmp_path):
    state = table.state()
    instants.start(state, instants.request(state, Time.of(LATER), Action.DELTA_COMMIT))
    before = {str(file): file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    elsewhere = str(tmp_path)
    for body, status in [
        (noting(table.base_path, marker=f"../../{FILE}.marker.CREATE"), 400),
        (noting(table.base_path, marker=f"{FILE}.marker.CREATE\nq/{FILE}.marker.CREATE"), 400),
        (noting(table.base_path, marker="/etc/passwd.marker.CREATE"), 400),
        (noting(table.base_path, marker="x" * 10_000), 422),
        (noting(table.base_path, instant="../.."), 422),
        (noting(table.base_path, instant="99990101000000000"), 404),
        (noting(elsewhere), 404),
        (b"{", 422),
        (b"[]", 422),
        (b"\xff\xfe", 422),
    ]:
        assert posted(server, body) == status, body[:100]
    assert {str(file): file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before
    for place in ("/v1/timeline", "/v1/timeline?table=/etc", "/v1/nothing"):
        with pytest.raises(SilentServerError, match="4"):
            ask(server, "GET", place)
    assert HoodieTable.open(table.base_path).read().num_rows == 2
