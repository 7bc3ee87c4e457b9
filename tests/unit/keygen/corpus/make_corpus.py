"""Makes `corpus.jsonl.gz`: options and rows, with the keys and partition paths that Hudi 1.2.0's own key generators make of them.

Run from the project's root with the peer set up (`python -m tests.interop.peer_env`):
    python tests/unit/keygen/corpus/make_corpus.py
"""

# ruff: noqa: E501 - lists of values
from __future__ import annotations

import gzip
import json
import random
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.interop.peer_env import BUNDLES, PEER, ensure

HERE = Path(__file__).parent
NEW, OLD = "hoodie.keygen.timebased.", "hoodie.deltastreamer.keygen.timebased."
KEY, PARTITION = "hoodie.datasource.write.recordkey.field", "hoodie.datasource.write.partitionpath.field"
HIVE, ENCODE = (f"hoodie.datasource.write.{name}" for name in ("hive_style_partitioning", "partitionpath.urlencode"))
SLASH = "hoodie.datasource.write.slash.separated.date.partitioning"
RANDOM = random.Random(5)

ZONES = [
    "UTC", "GMT", "GMT+8:00", "GMT-5", "GMT+0530", "GMT+05:45", "Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin",
    "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Etc/GMT+8", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu",
]  # fmt: skip
OLD_ZONES = [
    "PST", "EST", "CST", "MST", "HST", "AST", "IST", "JST", "CTT", "ECT", "ART", "EAT", "NST", "AET", "ACT", "BST", "VST", "PLT",
    "NET", "CAT", "BET", "AGT", "CNT", "PRT", "IET", "PNT", "MIT", "SST", "WET", "CET", "MET", "EET", "EST5EDT", "US/Pacific",
    "Zulu", "UCT", "Singapore", "Japan",
]  # fmt: skip
OUTPUTS = [
    "yyyy-MM-dd hh", "yyyy/MM/dd", "yyyyMMddHH", "MM/dd/yyyy", "yyyy", "yy-M-d", "yyyy-MM", "'day='D", "xxxx-'W'ww-e", "EEE d MMM yyyy",
    "EEEE MMMM", "yyyyMMdd'T'HHmmss.SSS", "HH_mm_ss_S", "SSSSSS", "K a", "k h", "GG YYYY CC", "yyyy-MM-dd Z", "yyyyy-DDD",
    "''yyyy''", "'it''s' yyyy", "x w e", "a", "mm", "ss", "MMM", "MMMMM", "EE", "YY xx", "HHHH", "yyyy.MM.dd_HH",
]  # fmt: skip
DST = [
    "2020-03-08T10:00",
    "2020-03-29T01:00",
    "2020-10-25T01:00",
    "2020-11-01T08:30",
    "2020-11-01T09:30",
    "2021-04-03T15:00",
]


def millis(text: str) -> int:
    return int(
        (datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC))
        / timedelta(milliseconds=1)
    )


MOMENTS = [
    0, 1, -1, 999, 1000, 1578283932000, 1585746093428, -62135596800000, -2208988800000, 253402300799999, 4102444800000, 951782400000,
    1709164800000, 1735603200000, 1609459199999, -86400000, 86399999, 32503680000000, *map(millis, DST),
    *(RANDOM.randrange(millis("1975-01-01T00:00"), millis("2037-01-01T00:00")) for _ in range(14)),
]  # fmt: skip
INSTANTS = [m for m in MOMENTS if m >= millis("1970-01-02T00:00")]


def stamped(options: dict, partition="p", family=NEW, **more) -> dict:
    return {KEY: "id", PARTITION: partition, **{family + name: value for name, value in options.items()}, **more}


def case(options: dict, kind: str, values: list, cls="TimestampBasedKeyGenerator", refused: str | None = None) -> dict:
    """`refused`: why we refuse these options though Hudi takes them."""
    rows = [[f"k{number}", value] for number, value in enumerate(values)]
    return {"class": cls, "options": options, "fields": {"id": "string", "p": kind}, "rows": rows, "refused": refused}


def examples() -> Iterator[dict]:
    """Those of Hudi's documentation."""
    iso, isoms = "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd'T'HH:mm:ss.SSSZ"
    eight = {"timezone": "GMT+8:00", "output.dateformat": "yyyy-MM-dd hh"}
    yield case(stamped({"timestamp.type": "EPOCHMILLISECONDS", **eight}), "long", [1578283932000, None])
    dates = {"timestamp.type": "DATE_STRING", "input.dateformat": "yyyy-MM-dd hh:mm:ss", **eight}
    yield case(stamped(dates), "string", ["2020-01-06 12:12:12", None])
    days = {"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": "days", **eight, "timezone": "GMT"}
    yield case(stamped(days), "long", [20000, None])
    text = {"timestamp.type": "DATE_STRING", "output.dateformat": "yyyyMMddHH", "input.timezone": ""}
    values = [
        "2020-04-01T13:01:33.428Z",
        "2020-04-01T13:01:33-05:00",
        "2020-04-01T13:01:33Z",
        "20200401",
        "2020-04-01T13:01:33.123+01",
        None,
    ]
    for formats, zone, output in [
        (isoms, "GMT", "yyyyMMddHH"), (f"{iso},{isoms}", "UTC", "yyyyMMddHH"), (f"{iso},{isoms},yyyyMMdd", "UTC", "MM/dd/yyyy"),
        (f"{iso},{isoms}", "", "yyyyMMddHH"), (f"{iso},{isoms}", "EST", "yyyyMMddHH ZZ"), (f"{iso},{isoms}", "", "yyyyMMddHHmm Z"),
    ]:  # fmt: skip
        for family in (NEW, OLD):
            given = {**text, "input.dateformat": formats, "output.timezone": zone, "output.dateformat": output}
            delimiter = {"input.dateformat.list.delimiter.regex": ";|,"} if family == OLD else {}
            yield case(stamped({**given, **delimiter}, family=family), "string", values)


def numbers() -> Iterator[dict]:
    kinds = {"EPOCHMILLISECONDS": 1, "UNIX_TIMESTAMP": 0.001, "EPOCHMICROSECONDS": 1000}
    for output in OUTPUTS:
        for zone in RANDOM.sample(ZONES, 3):
            kind = RANDOM.choice(list(kinds))
            values = [int(m * kinds[kind]) for m in RANDOM.sample(MOMENTS, 16)]
            yield case(
                stamped({"timestamp.type": kind, "timezone": zone, "output.dateformat": output}),
                "long",
                [None, *values],
            )
    for zone in ZONES + OLD_ZONES:
        given = {
            "timestamp.type": "EPOCHMILLISECONDS",
            "output.timezone": zone,
            "output.dateformat": "yyyy-MM-dd HH_mm_ss Z",
        }
        yield case(stamped(given), "long", [None, *RANDOM.sample(INSTANTS, 12), *map(millis, DST)])
    for unit in ("nanoseconds", "MICROSECONDS", "Milliseconds", "seconds", "minutes", "hours", "days"):
        for zone in ("", "GMT+8:00", "America/Los_Angeles"):
            given = {
                "timestamp.type": "SCALAR",
                "timestamp.scalar.time.unit": unit,
                "output.dateformat": "yyyy-MM-dd HH_mm_ss.SSS",
            }
            yield case(
                stamped({**given, "timezone": zone}),
                "long",
                [None, 0, 1, -1, 20000, -20000, 999999, 1000001, -1000001, -1500, 123456789],
            )
    yield case(stamped({"timestamp.type": "SCALAR", "output.dateformat": "yyyyMMddHH"}), "long", [None, 1, 1578283932])
    bad = {"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": "weeks", "output.dateformat": "yyyy"}
    yield case(stamped(bad), "long", [1])
    for kind, values in {
        "int": [None, 0, 1, -1, 20000, 2**31 - 1, -(2**31)],
        "long": [None, 0, 2**31, 2**40, -(2**40), 2**45],
        "double": [None, 0.0, 1.9, -1.9, 1578283932.75, 1e10, -1e10],
        "float": [None, 0.0, 1.9, -1.9, 1578283932.75, 1e10],
        "decimal": [None, "0", "1.99", "-1.99", "1578283932.75", "-1578283932.75"],
        "date": [None, 0, 1, -1, 20000, 400000],
        "timestamp": [None, 0, 1578283932000000, -1, 1585746093428123],
        "local": [None, 0, 1578283932000000, -1, 1585746093428123],
        "string": [None, "1578283932", "2020-01-01"],
        "boolean": [None, True],
    }.items():
        for type_, unit in [
            ("SCALAR", "DAYS"),
            ("SCALAR", "seconds"),
            ("UNIX_TIMESTAMP", None),
            ("EPOCHMICROSECONDS", None),
            ("DATE_STRING", None),
            ("MIXED", None),
        ]:
            small = [v for v in values if unit != "DAYS" or v is None or isinstance(v, str) or abs(v) < 10**8]
            given = {
                "timestamp.type": type_,
                "output.dateformat": "yyyy-MM-dd HH",
                "input.dateformat": "yyyy-MM-dd",
                "timezone": "GMT+8:00",
            }
            yield case(stamped({**given, **({"timestamp.scalar.time.unit": unit} if unit else {})}), kind, small)


TEXTS = {
    "yyyy-MM-dd": ["2020-02-29", "2019-02-29", "2020-2-9", "02020-01-01", "20200-01-01", "-0001-01-01", "+2020-01-01", "2020-13-01", "2020-00-10",
                   "2020-01-00", "2020-04-31", " 2020-01-01", "2020-01-01 ", "2020-01", "", "x", "2020-01-001", "1-1-1", "0000-01-01", "999999999-01-01",
                   "２０２０-01-01", "2020/01/01", "--01-01", "1969-12-31", "9999-12-31"],
    "yyyyMMdd": ["20200401", "2020041", "202004", "20201301", "020200401", "-20200401", "+20200401", "2020 401", "99991231"],
    "yyyyMMddHHmmss": ["20200401235959", "20200401240000", "20200401006000", "2020040100000", "202004010000001"],
    "yyyy-MM-dd'T'HH:mm:ss.SSS": ["2020-04-01T13:01:33.428", "2020-04-01t13:01:33.4", "2020-04-01T13:01:33.42", "2020-04-01T13:01:33.4281", "2020-04-01T13:01:33."],
    "yyyy-MM-dd HH:mm:ss.SSSSSS": ["2020-04-01 13:01:33.428999", "2020-04-01 13:01:33.1", "2020-04-01 13:01:33.9999999"],
    "yyyy-MM-dd hh:mm a": ["2020-04-01 12:00 AM", "2020-04-01 12:00 pm", "2020-04-01 11:59 PM", "2020-04-01 1:05 Pm", "2020-04-01 13:00 PM", "2020-04-01 0:00 AM"],
    "yyyy-MM-dd KK:mm a": ["2020-04-01 0:00 PM", "2020-04-01 11:00 AM", "2020-04-01 12:00 AM"],
    "yyyy-MM-dd kk": ["2020-04-01 24", "2020-04-01 1", "2020-04-01 0", "2020-04-01 25"],
    "hh:mm:ss yyyy-MM-dd": ["12:12:12 2020-01-06", "01:00:00 2020-01-06", "13:00:00 2020-01-06"],
    "d MMM yyyy": ["1 Jan 2020", "31 December 2020", "1 jan 2020", "1 JAN 2020", "1 jAn 2020", "30 Feb 2020", "7 May 1999", "1 Janu 2020", "5 Sep 2021", "5 Sept 2021"],
    "EEE d MMMM yyyy": ["Wed 1 April 2020", "Wednesday 1 Apr 2020", "Mon 1 April 2020", "wed 1 april 2020", "Sun 31 May 2020", "Sat 1 Feb 2020"],
    "EEEE d M yyyy": ["Thursday 2 4 2020", "Sunday 2 4 2020"],
    "xxxx-'W'ww-e": ["2020-W01-1", "2020-W53-7", "2019-W53-1", "2021-W53-1", "2020-w10-3", "2020-W54-1", "2020-W1-8", "2020-W00-1"],
    "xxxx-ww": ["2020-01", "2026-53", "2025-53"],
    "yyyy-DDD": ["2020-366", "2019-366", "2020-1", "2020-000", "2020-060"],
    "MM-dd": ["02-29", "12-31", "2-30", "1-1"],
    "dd": ["31", "1", "0"],
    "D": ["60", "366", "367"],
    "HH:mm": ["23:59", "0:0", "24:00"],
    "e HH": ["3 10", "8 10"],
    "yyyy": ["2020", "1", "20200", "-5", "+5", "-", "+", "292278990", "300000000"],
    "y": ["2020", "1", "-3"],
    "YYYY-MM": ["2020-02", "-2020-02", "0-1"],
    "yyyy-MM-dd HH:mm Z": ["2020-04-01 13:01 +0000", "2020-04-01 13:01 Z", "2020-04-01 13:01 z", "2020-04-01 13:01 -05:00", "2020-04-01 13:01 +05",
                           "2020-04-01 13:01 +053", "2020-04-01 13:01 +24:00", "2020-04-01 13:01 +0160", "2020-04-01 13:01 +05:30:15", "2020-04-01 13:01 +053015",
                           "2020-04-01 13:01 5", "2020-04-01 13:01 +", "2020-04-01 13:01 UTC", "2020-04-01 13:01 +05:", "2020-04-01 13:01 -0000"],
    "yyyy-MM-dd'T'HH:mm:ssZZ": ["2020-04-01T13:01:33Z", "2020-04-01T13:01:33+02:00", "2020-04-01T13:01:33+0200", "2020-04-01T13:01:33"],
    "yyyy-MM-dd HH:mm": ["2020-03-08 02:30", "2020-03-08 01:59", "2020-03-08 03:00", "2020-11-01 01:30", "2020-11-01 00:59", "2020-11-01 02:00", "2020-03-29 02:30",
                         "2020-10-25 02:30", "2011-12-30 12:00", "2020-10-04 02:15", "2020-04-05 01:45", "1800-01-01 00:00", "2050-07-01 12:00", "2500-07-01 12:00"],
    "'Tag' d.M.yyyy": ["Tag 3.4.2020", "tag 3.4.2020", "TAG 03.04.2020", "Tag3.4.2020"],
    "yyyy年MM月dd日": ["2020年04月01日", "2020年4月1日", "2020-04-01"],
    "''yyyy": ["'2020", "2020"],
    "yyyy;MM": ["2020;04"],
    "yyyy-MM-dd,dd/MM/yyyy,yyyyMMdd": ["2020-04-01", "01/04/2020", "20200401", "2020-13-01", "1/4/2020", "20201", "2020.04.01"],
    "yyyyMMdd , yyyy-MM": ["20200401", "2020-04", "2020-4"],
    "yyyy,yyyy-MM,yyyy-MM-dd": ["2020", "2020-04", "2020-04-01", "2020-04-01T"],
    "yy-MM-dd": ["20-04-01", "75-01-01", "76-01-01", "45-01-01", "46-01-01", "99-12-31", "120-01-01", "2020-01-01", "-5-01-01", "+20-01-01", "5-01-01"],
    "yyMMdd": ["200401", "990401", "20040"],
    "dd/MM/yy": ["01/04/20", "01/04/2020", "01/04/9"],
    "MMM yy": ["Apr 20", "Apr 99"],
    "yyyyMM": ["202004", "20204", "2020"],
    "ddMMyyyy": ["01042020", "1042020"],
    "HHmm yyyy D": ["2359 2020 60", "235 2020 60"],
    "yyyy MM dd D": ["2020 04 01 1", "2020 04 01 92", "2020 12 31 1"],
    "yyyy M d HH h a": ["2020 4 1 13 5 AM", "2020 4 1 13 5 PM"],
}  # fmt: skip


def texts() -> Iterator[dict]:
    for number, (pattern, values) in enumerate(TEXTS.items()):
        delimiter = (
            {} if "," in pattern else {"input.dateformat.list.delimiter.regex": r"\|"} if number % 3 == 0 else {}
        )
        for zones in (
            {"timezone": ZONES[number % len(ZONES)]}, {"output.timezone": ZONES[(3 * number) % len(ZONES)]}, {"input.timezone": ZONES[(5 * number) % len(ZONES)]},
            {"input.timezone": "America/Los_Angeles", "output.timezone": "Europe/Berlin"}, {},
        ):  # fmt: skip
            output = "yyyy-MM-dd HH_mm_ss.SSS Z" if number % 2 else "yyyy/MM/dd/HH"
            given = {
                "timestamp.type": "DATE_STRING" if number % 4 else "MIXED",
                "input.dateformat": pattern,
                "output.dateformat": output,
            }
            yield case(stamped({**given, **delimiter, **zones}), "string", [None, *values])
    # Texts of every kind that a pattern itself prints.
    for pattern in ("yyyy-MM-dd HH:mm:ss", "yyyyMMdd'T'HHmmssSSS", "EEE MMM d yyyy h:mm:ss a"):
        dates = [datetime(1970, 1, 1) + timedelta(milliseconds=RANDOM.randrange(2**41)) for _ in range(60)]
        python = {"yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S", "yyyyMMdd'T'HHmmssSSS": "%Y%m%dT%H%M%S123"}.get(
            pattern, "%a %b %d %Y %I:%M:%S %p"
        )
        for zone in RANDOM.sample(ZONES, 4):
            given = {
                "timestamp.type": "DATE_STRING",
                "input.dateformat": pattern,
                "timezone": zone,
                "output.dateformat": "yyyyMMddHH",
            }
            yield case(stamped(given), "string", [date.strftime(python) for date in dates])


def refused_options() -> Iterator[dict]:
    """Options that Hudi refuses too, and those that only we refuse."""
    text = {"timestamp.type": "DATE_STRING", "input.dateformat": "yyyy-MM-dd", "output.dateformat": "yyyy"}
    value = ["2020-01-01"]
    for wrong in (
        {"output.dateformat": "yyyy-QQ"}, {"output.dateformat": "uuuu"}, {"output.dateformat": "XXX"}, {"input.dateformat": "yyyy-LL"}, {"input.dateformat": ""},
        {"timestamp.type": "EPOCHSECONDS"}, {"input.dateformat": "yyyy,,MM"}, {"output.dateformat": ""},
    ):  # fmt: skip
        yield case(stamped({**text, **wrong}), "string", value)
    for name in ("timestamp.type", "output.dateformat", "input.dateformat"):
        yield case(stamped({key: given for key, given in text.items() if key != name}), "string", value)
    for zone in ("Mars/Olympus", "UTC+8", "+08:00", "gmt", "GMT+25"):
        yield case(stamped({**text, "timezone": zone}), "string", value, refused="Java takes an unknown zone for GMT")
    yield case(
        stamped({**text, "output.dateformat": "yyyy z"}), "string", value, refused="names of zones depend on Java"
    )
    for pattern in ("yyyy ZZZ", "G yyyy", "CC"):
        yield case(stamped({**text, "input.dateformat": pattern}), "string", ["x"], refused="not read")


WORDS = [
    None, "", "a", " a ", "a b", "ünï", "日本", "😀", "a,b", "a%b", "a=b", "a/b", "a:b", "q'\"{}[]^*#?\\", "~!@$&();<>|+`", "a\tb\nc\x01\x7f", "..", "a//b", "/a", "a/",
    "__null__", "__empty__", "__HIVE_DEFAULT_PARTITION__", "default", "2020-01-01", "x" * 300, "a:b,c:d", "null", "NULL",
]  # fmt: skip
OTHERS = {
    "int": [None, 0, 1, -1, 2**31 - 1, -(2**31)], "long": [None, 0, 2**62, -(2**63)], "boolean": [None, True, False], "double": [None, 0.1, 1.0, -0.0, 1e10, 1e-5, 123.456],
    "float": [None, 0.5, 1.0, 1e-5], "decimal": [None, "1.00", "-0.01", "12345678.90", "0"], "date": [None, 0, 20000, -1, 2932896], "local": [None, 0, 1767323045678901, -1],
}  # fmt: skip


DAYS = ["2020-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "2024-02-30", "0000-00-00"]


def plain() -> Iterator[dict]:
    for hive in ("false", "true"):
        for encode in ("false", "true"):
            style = {HIVE: hive, ENCODE: encode}
            for twin in ("", "Avro"):
                yield case({KEY: "id", PARTITION: "p", **style}, "string", WORDS, f"Simple{twin}KeyGenerator")
                both = {KEY: "id,p", PARTITION: "p,id", **style}
                yield case(both, "string", WORDS, f"Complex{twin}KeyGenerator")
                yield case({KEY: "p", PARTITION: "id", **style}, "string", WORDS, f"Complex{twin}KeyGenerator")
                yield case(
                    {KEY: "p", PARTITION: "p:SIMPLE,id:simple", **style}, "string", WORDS, f"Custom{twin}KeyGenerator"
                )
                yield case({KEY: "p,id", PARTITION: "id:Simple", **style}, "string", WORDS, f"Custom{twin}KeyGenerator")
                nowhere = {KEY: "p", PARTITION: "", **style}
                yield case(nowhere, "string", WORDS, f"Nonpartitioned{twin}KeyGenerator")
                yield case({**nowhere, KEY: "p,id"}, "string", WORDS, f"Nonpartitioned{twin}KeyGenerator")
                yield case(nowhere, "string", WORDS, f"Global{twin}DeleteKeyGenerator")
                yield case({**nowhere, KEY: "id,p"}, "string", WORDS, f"Global{twin}DeleteKeyGenerator")
            days = {
                "timestamp.type": "SCALAR",
                "timestamp.scalar.time.unit": "days",
                "output.dateformat": "yyyy/MM/dd=HH",
                "timezone": "GMT+8:00",
            }
            for family in (NEW, OLD):
                yield case(stamped(days, family=family, **style), "long", [None, 1, 20000, -1])
                yield case(
                    stamped(days, "id:SIMPLE,p:TIMESTAMP", family, **style),
                    "long",
                    [None, 1, 20000, -1],
                    "CustomKeyGenerator",
                )
                yield case(
                    stamped(days, "p:timestamp,id:simple", family, **style),
                    "long",
                    [None, 1, 20000, -1],
                    "CustomAvroKeyGenerator",
                )
            yield case(
                stamped({**days, "output.dateformat": "yyyy-MM-dd HH:mm"}, **style),
                "long",
                [None, 20000],
                "TimestampBasedAvroKeyGenerator",
            )
            if hive == encode == "false":
                for twin in ("", "Avro"):
                    slashed = {KEY: "id", PARTITION: "p", SLASH: "true"}
                    yield case(slashed, "string", DAYS, f"Simple{twin}KeyGenerator")
                    yield case(slashed, "date", [0, 20000, -1, 11016], f"Simple{twin}KeyGenerator")
            for kind, values in OTHERS.items():
                yield case({KEY: "p", PARTITION: "p", **style}, kind, values, "SimpleKeyGenerator")
                yield case({KEY: "id,p", PARTITION: "id,p", **style}, kind, values, "ComplexKeyGenerator")
    for wrong in ("p", "p:SIMPLE,id", "p:DATE", "p:SIMPLE:TIMESTAMP"):
        yield case({KEY: "id", PARTITION: wrong}, "string", ["a"], "CustomKeyGenerator")
    yield case({KEY: "id", PARTITION: "p:TIMESTAMP"}, "long", [1], "CustomKeyGenerator")


def main() -> None:
    ensure()
    cases = [*examples(), *numbers(), *texts(), *refused_options(), *plain()]
    jars = next((PEER / "venv" / "lib").glob("python*/site-packages/pyspark/jars"))
    command = [
        "java",
        "-Duser.timezone=UTC",
        "-Duser.language=en",
        "-Duser.country=US",
        "-cp",
        f"{BUNDLES['1.2.0']}:{jars}/*",
        HERE / "Generate.java",
    ]
    given = "".join(json.dumps(each) + "\n" for each in cases)
    answers = (
        subprocess.run(command, input=given.encode(), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    )
    assert len(answers) == len(cases)
    lines = [json.dumps({"year": datetime.now(UTC).year})]
    for each, answer in zip(cases, map(json.loads, answers), strict=True):
        each.pop("refused") if each["refused"] is None else None
        lines.append(json.dumps({**each, "hudi": answer}, ensure_ascii=False, separators=(",", ":")))
    with open(HERE / "corpus.jsonl.gz", "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as zipped:
        zipped.write("\n".join(lines).encode())
    print(f"{len(cases)} cases, {sum(len(each['rows']) for each in cases)} rows")


if __name__ == "__main__":
    main()
