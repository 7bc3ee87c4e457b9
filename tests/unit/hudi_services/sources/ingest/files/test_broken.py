"""Files that cannot be read, by policy: nothing is loaded, or every run skips them and reports that."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import zipfile

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError, SourceError
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files.checkpoint import KEY, Broken, Checkpoint, LoadedFile
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.task import IngestTask
from hudi_services.sources.positions import Position
from tests.support.tables import batch

SKIP = Feed.model_validate({"quarantine": {"files": "skip"}})
GOOD = {
    "csv": "id,part,ts,value\na,p,1,1\n",
    "json": [{"id": "a", "part": "p", "ts": 1, "value": 1}],
    "parquet": batch([("a", "p", 1, 1)]),
}
MANY = "id,part,ts,value\n" + "".join(f"k{n},p,{n},{n * 7919}\n" for n in range(3000))
TORN = gzip.compress(MANY.encode())[:-300]


def damaged_pages(feed, name):
    feed.land(name, batch([(f"k{n}", "p", n, n) for n in range(5000)]))
    path = feed.source / name
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)


BROKEN = [
    pytest.param("csv", "b.csv", b"", id="csv empty"),
    pytest.param("csv", "b.csv", b"id,part,ts,value\nb,p,1,\xff\n", id="csv that is no text"),
    pytest.param("csv", "b.csv", "id,part,ts,value\nb,p,1,2\n".encode("utf-16"), id="csv of another encoding"),
    pytest.param("csv", "b.csv.gz", TORN, id="gzip that ends early"),
    pytest.param("csv", "b.csv.gz", b"plain", id="gzip that is none"),
    pytest.param("csv", "b.csv", b"id,id\n1,2\n", id="csv with one name twice"),
    pytest.param("csv", "b.csv", b"\x01id\x02,part\nb,p\n", id="csv whose header is no text"),
    pytest.param("json", "b.json", b"garbage\n[1]\n", id="json garbage"),
    pytest.param(
        "json", "b.json.gz", gzip.compress(json.dumps(GOOD["json"][0]).encode() * 1000)[:-5], id="json gzip torn"
    ),
    pytest.param("parquet", "b.parquet", b"PAR1 and no more", id="parquet torn"),
    pytest.param("parquet", "b.parquet", None, id="parquet with damaged pages"),
]


def land(feed, file_format, name, data):
    feed.land(f"a.{file_format}", GOOD[file_format])
    if data is None:
        damaged_pages(feed, name)
    else:
        feed.land(name, data)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("file_format", "name", "data"), BROKEN)
def test_a_broken_file_is_left_out_and_told_in_every_run(feed, caplog, file_format, name, data, known):
    if known:
        feed.land("0.parquet", batch([("z", "p", 1, 1)]))
        feed.run()
    land(feed, file_format, name, data)
    with pytest.raises(SourceError, match=f"{name} cannot be read"):
        feed.run(file_format)
    with caplog.at_level(logging.WARNING):
        result = feed.run(file_format, declared=SKIP)
    assert (result.files_read, result.files_skipped, result.rows_read) == (1, 1, 1)
    assert f"1 cannot be read and are SKIPPED: {name} (" in result.message
    assert name not in caplog.text, "it would be reported twice"
    assert set(feed.content) - {"z"} == {"a"}
    again = feed.run(file_format, declared=SKIP)
    assert (again.instant, again.files_skipped) == (None, 1)
    assert f"SKIPPED: {name} (" in again.message
    plan = IngestTask(feed.request(file_format, declared=SKIP)).explain(LocalEngine(2))
    assert f"left out: {name}: cannot be read: " in plan.as_text("ingest")
    assert [each["path"] for each in plan.as_dict("ingest")["left_out"]] == [name]
    with pytest.raises(SourceError, match=f"{name} cannot be read"):
        feed.run(file_format)  # a run that does not skip it finds it again


def test_it_is_not_read_again_until_it_changes(feed, monkeypatch):
    land(feed, "csv", "b.csv.gz", TORN)
    feed.run("csv", declared=SKIP)
    with monkeypatch.context() as patch:
        patch.setattr("hudi_services.sources.ingest.files.schema.text_input", lambda *_: pytest.fail("read again"))
        assert feed.run("csv", declared=SKIP).files_skipped == 1
    whole = gzip.compress(MANY.encode())
    feed.land("b.csv.gz", whole)
    result = feed.run("csv", declared=SKIP)
    assert (result.files_read, result.files_skipped, result.rows_read) == (1, 0, 3000)
    assert feed.run("csv", declared=SKIP).message == "nothing to do: 0 files to load; 2 loaded before"


@pytest.mark.parametrize("how", ["time", "reload"])
def test_also_when_only_its_time_changes_and_with_reload(feed, how):
    land(feed, "csv", "b.csv", b"id,part,ts,value\nb,p,1,2\xff\n")
    feed.run("csv", declared=SKIP)
    path = feed.source / "b.csv"
    before = path.stat()
    path.write_bytes(b"id,part,ts,value\nb,p,1,22\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (10**9 if how == "time" else 0)))
    assert path.stat().st_size == before.st_size
    result = feed.run("csv", declared=SKIP, reload=how == "reload")
    assert (result.files_read, result.files_skipped) == (2 if how == "reload" else 1, 0)
    assert set(feed.content) == {"a", "b"}
    assert feed.run("csv", declared=SKIP).files_skipped == 0


def test_the_log_has_the_broken_files_for_which_the_outcome_has_no_room(feed, caplog):
    feed.land("a.csv", GOOD["csv"])
    for number in range(7):
        feed.land(f"b{number}.csv", "")
    with caplog.at_level(logging.WARNING):
        message = feed.run("csv", declared=SKIP).message
    assert "and 2 more" in message
    for number in range(7):
        assert (f"b{number}.csv (" in message) != (f"b{number}.csv cannot be read and is skipped" in caplog.text)


def test_nothing_but_broken_files_is_nothing_to_do_and_told(feed):
    feed.land("b.csv", b"")
    for _ in range(2):
        result = feed.run("csv", declared=SKIP)
        assert (result.instant, result.files_skipped) == (None, 1)
        assert "SKIPPED: b.csv" in result.message
    assert not feed.table.exists()


def test_columns_that_are_not_declared_make_a_file_a_broken_one(feed):
    columns = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint"}
    land(feed, "csv", "b.csv", "id,part,ts,value,more\nb,p,1,1,1\n")
    result = feed.run("csv", declared=Feed.model_validate({"schema": columns, "quarantine": {"files": "skip"}}))
    assert (result.files_read, result.files_skipped) == (1, 1)
    assert "'more' is not in `schema`" in result.message


def zipped(*names):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, "id,part,ts\n" * 50)
    return data.getvalue()


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
@pytest.mark.parametrize(
    ("data", "content", "remedy"),
    [
        (
            zipped("[Content_Types].xml", "xl/workbook.xml"),
            "a workbook of Excel (.xlsx)",
            "save each sheet as `CSV UTF-8`",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "a workbook of Excel (.xls)",
            "save each sheet as `CSV UTF-8`",
        ),
        (zipped("a.csv"), "a ZIP archive", "unpack it"),
    ],
    ids=["xlsx", "xls", "zip"],
)
def test_a_workbook_and_an_archive_are_named(feed, file_format, data, content, remedy):
    name = f"b.{file_format}"
    land(feed, file_format, name, data)
    with pytest.raises(SourceError) as raised:
        feed.run(file_format)
    assert f"{name} cannot be read. Found: {content}. To do: {remedy}" in str(raised.value)
    assert f"SKIPPED: {name} ({content}: {remedy}" in feed.run(file_format, declared=SKIP).message


@pytest.mark.parametrize(
    ("file_format", "data", "content", "remedy"),
    [
        ("csv", b"PAR1" + bytes(600), "a Parquet file", "write `format: parquet` in the source if its files are so"),
        ("json", b"PAR1" + bytes(600), "a Parquet file", "write `format: parquet` in the source if its files are so"),
        ("parquet", b"id,part,ts\n" * 50, "text, such as CSV", "write `format: csv` in the source if its files are so"),
        ("parquet", "größe\n".encode("cp1252"), "text, such as CSV", "write `format: csv` in the source"),
        ("parquet", b' {"id": 1}\n' * 50, "text, such as JSON", "write `format: json` in the source"),
        ("csv", gzip.compress(b"id,part,ts\n"), "a file that gzip compressed", "unpack it, or end its name in .gz"),
        ("parquet", gzip.compress(b"id"), "a file that gzip compressed", "unpack it; nothing"),
        ("csv", b"Obj\x01" + bytes(600), "an Avro file", "convert it to csv"),
        ("parquet", b"ORC\x08\0" + bytes(600), "an ORC file", "convert it to parquet"),
        ("json", b"BZh91AY\0", "a file that bzip2 compressed", "convert it to json"),
    ],
)
def test_a_file_of_another_format_is_named(feed, file_format, data, content, remedy):
    name = f"b.{file_format}"
    (feed.source / name).write_bytes(data)
    with pytest.raises(SourceError) as raised:
        feed.run(file_format)
    assert f"{name} cannot be read. Found: {content}. To do: {remedy}" in str(raised.value)


def test_a_torn_parquet_file_is_no_other_format(feed):
    (feed.source / "b.parquet").write_bytes(b"PAR1" + bytes(600))
    with pytest.raises(SourceError, match=r"Parquet magic bytes not found"):
        feed.run()


@pytest.mark.parametrize("header", ["größe", "size"])
def test_text_that_is_no_utf_8_names_the_option_of_its_encoding(feed, header):
    (feed.source / "b.csv").write_bytes(f"id,part,ts,{header}\na,p,1,größe\n".encode("cp1252"))
    with pytest.raises(
        SourceError, match=r"such as `encoding: cp1252`, below `csv` or `json` if all files have it, or deliver"
    ):
        feed.run("csv")
    assert feed.run("csv", declared={"csv": {"encoding": "cp1252"}}).rows_inserted == 1


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_values_in_utf_8_that_are_read_in_another_encoding_are_noted(feed, file_format, encoding):
    rows = {"csv": "id,part,ts\nMüller,p,1\n", "json": '{"id": "Müller", "part": "p", "ts": 1}\n'}[file_format]
    declared = {file_format: {"encoding": encoding}}
    (feed.source / f"a.{file_format}").write_bytes(rows.encode(encoding))
    assert "READ IN ANOTHER ENCODING" not in feed.run(file_format, declared=declared).message
    (feed.source / f"b.{file_format}").write_bytes(rows.replace("ü", "u").encode())
    assert "READ IN ANOTHER ENCODING" not in feed.run(file_format, declared=declared).message
    (feed.source / f"c.{file_format}").write_bytes(rows.encode())
    message = feed.run(file_format, declared=declared).message
    assert f"READ IN ANOTHER ENCODING, so that letters become others, such as Ã¼: c.{file_format}; write" in message


def test_a_file_that_is_gone_is_not_told_any_more(feed):
    land(feed, "csv", "b.csv", b"")
    feed.run("csv", declared=SKIP)
    (feed.source / "b.csv").unlink()
    assert feed.run("csv", declared=SKIP).files_skipped == 0


def test_a_start_from_fresh_forgets_it_too(feed):
    land(feed, "csv", "b.csv", b"")
    feed.run("csv", declared=SKIP)
    feed.land("b.csv", b"")
    assert feed.run("csv", declared=SKIP, start_fresh=True).files_skipped == 1


def test_a_checkpoint_gives_back_what_was_left_out_and_older_programs_read_the_rest():
    file = SourceFile("a", 3, 7, None)
    broken = {"b": Broken(1, 2, "torn"), "grün": Broken(2**40, 2**41, "'\"")}
    checkpoint = Checkpoint().with_files("/land", [file], broken)
    text = checkpoint.encode()
    read = Checkpoint.decode(Position(text, "1", "a commit"))
    assert read.broken("/land/") == broken
    assert read.loaded("/land") == {"a": LoadedFile(3, 0)}
    assert json.loads(text).keys() == {"version", "sources", "changed_s", "left_out"}
    assert json.loads(text)["version"] == 1
    assert (
        Checkpoint().with_files("/land", [file]).encode()
        == Checkpoint.decode(
            Position(
                json.dumps({name: value for name, value in json.loads(text).items() if name != "left_out"}), "1", "x"
            )
        ).encode()
    )
    assert read.without("/land") == Checkpoint()
    assert KEY == "hudi_services.checkpoint"


@pytest.mark.parametrize(
    "error",
    [PermissionError(13, "no"), TimeoutError("late"), ConnectionResetError(), OSError(5, "disk"), FileNotFoundError()],
)
def test_what_ails_the_storage_is_no_broken_file(feed, monkeypatch, error):
    """It may pass: the file is not put aside for it."""
    feed.land("a.csv", GOOD["csv"])

    def failing(*_):
        raise error

    monkeypatch.setattr("hudi_services.sources.ingest.files.schema.text_input", failing)
    with pytest.raises(HoodieError, match=r"a.csv cannot be read|A right is missing for loading a.csv"):
        feed.run("csv", declared=SKIP)
    assert not feed.table.exists()
