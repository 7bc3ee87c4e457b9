"""Keys and partition paths are those that Hudi 1.2.0's own key generators made (corpus/make_corpus.py says how)."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.config.properties.table import TableProperties
from hoodie.errors import HoodieError
from hoodie.keygen import key_generator
from tests.support.matrix import DEEP

TYPES = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
    "decimal": pa.decimal128(20, 2),
}
STAMP = "hoodie.keygen.timebased.timestamp.type"
OLD_STAMP = "hoodie.deltastreamer.keygen.timebased.timestamp.type"
with gzip.open(Path(__file__).with_name("corpus") / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
    YEAR = json.loads(next(file))["year"]
    CASES = [json.loads(line) for line in file]


def generator(case):
    names = {
        "hoodie.datasource.write.recordkey.field": "hoodie.table.recordkey.fields",
        "hoodie.datasource.write.partitionpath.field": "hoodie.table.partition.fields",
    }
    raw = {names.get(name, name): value for name, value in case["options"].items()}
    raw["hoodie.table.name"] = "corpus"
    raw["hoodie.table.keygenerator.class"] = "org.apache.hudi.keygen." + case["class"]
    return key_generator(TableProperties(raw), YEAR)


def table(case, rows):
    columns = zip(*rows, strict=True) if rows else [[] for _ in case["fields"]]
    arrays = []
    for (_, kind), values in zip(case["fields"].items(), columns, strict=True):
        numbers = [Decimal(v) if v is not None else None for v in values] if kind == "decimal" else list(values)
        arrays.append(pa.array(numbers, TYPES[kind]))
    return pa.table(arrays, names=list(case["fields"]))


def is_folder(path):
    steps = path.split("/")
    fits = all(len(step.encode()) <= 255 for step in steps)
    return fits and ":" not in path and (path == "" or not {"", ".", ".."} & set(steps))


def made_by(maker, rows):
    try:
        return maker.of(rows).to_pylist()
    except HoodieError as error:
        return error


def wrong(case, maker, what, expected):
    """How our answers differ from Hudi's: all rows that Hudi takes at once, each of the others alone."""
    answers = list(zip(case["rows"], expected, strict=True))
    by_type = _refused_type(case, what, expected)
    refused, taken = [], []
    for row, answer in answers:
        no = by_type or isinstance(answer, dict) or (what == "path" and not is_folder(answer))
        (refused if no else taken).append((row, answer))
    for row, answer in refused if DEEP else refused[::3]:
        made = made_by(maker, table(case, [row]))
        if not isinstance(made, HoodieError) and not (by_type and _is_number_in_text(case, row)):
            yield row, answer, made
    if not taken:
        return
    made = made_by(maker, table(case, [row for row, _ in taken]))
    if isinstance(made, HoodieError):
        yield case["options"], str(made)
    else:
        yield from ((row, answer, ours) for (row, answer), ours in zip(taken, made, strict=True) if ours != answer)


def _refused_type(case, what, expected):
    """A type of which Hudi takes null alone; folders of timestamps, which it makes and cannot read."""
    if what == "key":
        return False
    kind, of_text = (
        case["fields"]["p"],
        (case["options"].get(STAMP) or case["options"].get(OLD_STAMP)) in ("DATE_STRING", "MIXED"),
    )
    if "TimestampBased" in case["class"] and (kind == "boolean" or (kind == "string") != of_text):
        assert all(isinstance(path, dict) for (_, value), path in zip(case["rows"], expected, strict=True) if value)
        return True
    return case["class"] in ("SimpleKeyGenerator", "ComplexKeyGenerator") and case["fields"]["p"] == "local"


def _is_number_in_text(case, row):
    """We take it where numbers are expected, as Hudi gives such a column to readers as text. Hudi takes the null alone."""
    return case["fields"]["p"] == "string" and (row[1] is None or row[1].lstrip("-").isdigit())


def test_the_corpus_is_large():
    rows = [answer for case in CASES for answer in case["hudi"].get("rows", ())]
    assert len(rows) > 5000
    assert sum(isinstance(path, dict) for _, path in rows) > 200


@pytest.mark.parametrize("name", sorted({case["class"] for case in CASES}))
def test_keys_and_paths_are_hudis(name):
    differences = []
    for case in CASES:
        if case["class"] != name or "refused" in case or "error" in case["hudi"]:
            continue
        theirs = list(zip(*case["hudi"]["rows"], strict=True))
        try:
            keys, paths = generator(case)
        except HoodieError as error:  # Hudi looks at some options only when the first row comes
            differences += [(case["options"], error)] if not all(isinstance(path, dict) for path in theirs[1]) else []
            continue
        differences += [(case["options"], *found) for found in wrong(case, keys, "key", theirs[0])]
        differences += [(case["options"], *found) for found in wrong(case, paths, "path", theirs[1])]
    assert not differences, f"{len(differences)} differences, such as {differences[:5]}"


@pytest.mark.parametrize("half", ["key", "path"])
def test_the_rows_to_leave_out_are_those_that_are_refused_alone(half):
    """A third of the cases, in `make test-deep` all: each row takes a key generator of its own."""
    for case in CASES if DEEP else CASES[::3]:
        if "refused" in case or "error" in case["hudi"]:
            continue
        try:
            maker = generator(case)[half == "path"]
            rows = table(case, case["rows"])
            found = maker.unusable(rows).to_pylist()
        except HoodieError:
            continue
        alone = [isinstance(made_by(maker, rows.slice(number, 1)), HoodieError) for number in range(rows.num_rows)]
        assert found == alone, case["options"]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "refused" in case or "error" in case["hudi"]],
    ids=lambda case: str(list(case["options"].values())),
)
def test_options_are_refused(case):
    """Hudi's own refusals, and where its answer would depend on the machine or hide a mistake."""
    with pytest.raises(HoodieError):
        generator(case)
